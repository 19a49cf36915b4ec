/**
 * Authentication and authorization for a node's port. The API server authenticates tokens. Client certificates are
 * verified with the trusted CAs. The API server must also allow the user to access the node subresource that
 * corresponds to the path. The API server's responses are cached for ten seconds.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { authenticatedUsers, shownName } from '../../api/model/user.ts'
import { readSubject } from '../../api/pki/identity.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type ReviewedUser, type Reviewer, reviewAccess, reviewToken } from '../../client/requests/reviews.ts'

/** The result of an admission check: status 200, or the error response to send. */
export interface Verdict {
  readonly status: number
  readonly text: string
}

const cachedMs = 10_000
const unauthorized: Verdict = { status: 401, text: 'Unauthorized' }
const unknown: Verdict = { status: 500, text: 'cannot check authorization: the API server is unavailable' }
const verbs: { readonly [method: string]: string } = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
/** Node subresources by path prefix. All other paths belong to the `proxy` subresource. */
const subresources: readonly (readonly [string, string])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/spec', 'spec'],
]

export class Admittance {
  readonly #reviewer: Reviewer
  readonly #users: TtlCache<ReviewedUser | undefined>
  readonly #rights: TtlCache<boolean>

  constructor(reviewer: Reviewer, clock: Clock) {
    this.#reviewer = reviewer
    this.#users = new TtlCache(clock)
    this.#rights = new TtlCache(clock)
  }

  /** Authenticates and authorizes a request to this node. */
  async judge(request: IncomingMessage, node: string): Promise<Verdict> {
    try {
      const user = await this.#userOf(request)
      return user === undefined ? unauthorized : await this.#authorizeUser(user, request, node)
    } catch {
      return unknown
    }
  }

  /** Returns the user of a request. A certificate takes precedence over a token, as in the API server. */
  async #userOf({ socket, headers }: IncomingMessage): Promise<ReviewedUser | undefined> {
    const certificateIdentity = certificateUser(socket as TLSSocket)
    if (certificateIdentity !== undefined) return certificateIdentity
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (token === undefined) return undefined
    // The key is a hash of the token, so that the cache contains no tokens.
    const key = createHash('sha256').update(token).digest('base64')
    return await this.#users.get(key, async () => {
      const value = await reviewToken(this.#reviewer, token)
      return { value, ttlMs: cachedMs }
    })
  }

  async #authorizeUser(user: ReviewedUser, { method = '', url = '' }: IncomingMessage, node: string): Promise<Verdict> {
    const verb = verbs[method] ?? method.toLowerCase()
    const subresource = subresourceOf(url)
    const attributes = { verb, group: '', version: 'v1', resource: 'nodes', subresource, name: node }
    const key = JSON.stringify([user, attributes])
    const isAllowed = await this.#rights.get(key, async () => {
      const value = await reviewAccess(this.#reviewer, user, { resourceAttributes: attributes })
      return { value, ttlMs: cachedMs }
    })
    const who = `user=${shownName({ name: user.username ?? '' })}, verb=${verb}, resource=nodes, subresource=${subresource}`
    return isAllowed ? { status: 200, text: '' } : { status: 403, text: `Forbidden (${who})` }
  }
}

function subresourceOf(url: string): string {
  const path = url.split('?', 1)[0]!
  return subresources.find(([begin]) => path === begin || path.startsWith(`${begin}/`))?.[1] ?? 'proxy'
}

/** Returns the user that the client certificate names, if a trusted CA signed the certificate. */
function certificateUser(socket: TLSSocket): ReviewedUser | undefined {
  const x509 = socket.authorized ? socket.getPeerX509Certificate() : undefined
  if (x509 === undefined) return undefined
  const { commonNames, organizations } = readSubject(x509.raw)
  const [username, ...more] = commonNames
  if (username === undefined || more.length > 0) return undefined
  return { username, groups: [...organizations, authenticatedUsers] }
}
