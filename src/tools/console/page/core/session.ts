/**
 * The signed-in user. The token exists only in this object. It is not in the URL, in storage or in a cookie, so closing
 * or reloading the page signs the user out. All requests use the client of the session. A 401 response ends the
 * session.
 */

import type { Client, Transport } from '../../../../client/library/client-browser.ts'
import { clientOver } from '../../../../client/requests/client-over.ts'
import { fetchTransport } from '../../../../client/requests/fetch-transport.ts'
import { Store } from './observable.ts'
import { replaceAddress } from './route.ts'

export interface SignedIn {
  readonly client: Client
  readonly user: string
  readonly groups: readonly string[]
  /** The sign-in method, which is `token`, `certificate` or `link`. */
  readonly way: string
  /** Opens a WebSocket with the credentials of this user, for example for `exec`. */
  readonly openSocket: (path: string, protocols: readonly string[]) => WebSocket
}

/** The current session. If there is none, `notice` explains why. */
export interface SessionState {
  readonly session: SignedIn | undefined
  /** Text on the sign-in page that explains why the user must sign in. */
  readonly notice: string
}

export const session = new Store<SessionState>({ session: undefined, notice: '' })

/** Whether the server responds to requests. The transport updates this value. */
export const connection = new Store<'connected' | 'lost'>('connected')

export function signOut(notice = ''): void {
  session.set({ session: undefined, notice })
}

/** Signs in with a token. Without a token, the browser's client certificate is used. */
export async function signIn(way: string, token: string | undefined): Promise<void> {
  const holder: { isCurrent: boolean } = { isCurrent: false }
  const client = clientOver(watched(token, holder), { userAgent: 'console', timeoutMs: 60_000 })
  const who = await whoAmI(client)
  if (who === undefined) throw new Error('the server does not report who you are')
  if (who.groups.includes('system:unauthenticated')) throw new Error('the server treats you as anonymous')
  holder.isCurrent = true
  const openSocket = socketOpener(token)
  session.set({ session: { client, way, user: who.user, groups: who.groups, openSocket }, notice: '' })
}

/**
 * Opens WebSockets with the token of the session. Browsers cannot set headers on WebSockets, so the token is sent as a
 * subprotocol, as in Kubernetes. The server never selects this subprotocol.
 */
function socketOpener(token: string | undefined): SignedIn['openSocket'] {
  const credential = token === undefined ? [] : [`base64url.bearer.authorization.k8s.io.${base64Url(token)}`]
  return (path, protocols) => {
    const url = new URL(path, location.origin)
    url.protocol = url.protocol.replace('http', 'ws')
    return new WebSocket(url, [...protocols, ...credential])
  }
}

function base64Url(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Exchanges the secret of a one-time link for a session. */
export async function signInWithLink(link: string): Promise<void> {
  const response = await fetch(new URL('session', location.href.replace(/#.*/, '')), {
    method: 'POST',
    headers: { authorization: `Link ${link}` },
    cache: 'no-store',
  })
  if (!response.ok)
    throw new Error(
      'this link has been used or has expired: restart orch up to get another link, or sign in with a token',
    )
  const { token } = (await response.json()) as { token: string }
  await signIn('link', token)
}

/**
 * Returns the secret in the URL. Removes it from the URL immediately, so that it remains neither in the history nor on
 * the screen.
 */
export function takeLink(): string | undefined {
  const [, link] = /^#link=([\w-]+)$/.exec(location.hash) ?? []
  if (link !== undefined) replaceAddress('#/')
  return link
}

/** Returns the transport of a session. It tracks whether the server responds and whether the token is still valid. */
function watched(token: string | undefined, holder: { readonly isCurrent: boolean }): Transport {
  const send = fetchTransport({ server: location.origin, ...(token === undefined ? {} : { token }) })
  return async (request) => {
    try {
      const response = await send(request)
      if (connection.value === 'lost') connection.set('connected')
      if (response.status === 401 && holder.isCurrent)
        signOut('Your session has ended: the server no longer accepts this credential. Sign in again.')
      return response
    } catch (error) {
      if (!request.signal.aborted && connection.value === 'connected') connection.set('lost')
      throw error
    }
  }
}

interface Who {
  readonly user: string
  readonly groups: readonly string[]
}

/** Asks the server who the user is. Uses the API group of the server's vendor. */
async function whoAmI(client: Client): Promise<Who | undefined> {
  const { groups } = await client.read<{ groups: readonly { name: string }[] }>('/apis')
  const group = groups.find(({ name }) => name.startsWith('ops.'))?.name
  if (group === undefined) return undefined
  const type = { group, version: 'v1', plural: 'whoamis', namespaced: false, kind: 'WhoAmI' }
  const { status } = (await client.create(type, { metadata: {} })) as unknown as { status: Partial<Who> }
  return { user: status.user ?? '', groups: status.groups ?? [] }
}
