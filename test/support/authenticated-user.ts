/** Returns the user that a server authenticates for these credentials, over TLS on a separate connection. */
import { Agent, request } from 'node:https'
import type { CertifiedKey } from '../../src/api/pki/authority.ts'
import { caOf } from './raw-http.ts'
import type { Served } from './server.ts'

export { until } from './until.ts'

export interface Credentials {
  readonly certificate?: CertifiedKey
  readonly token?: string
  /** Headers of the request. An array is sent as several headers. */
  readonly headers?: { readonly [name: string]: string | string[] }
  /** Agent for the request. Defaults to a connection for this request only. */
  readonly agent?: Agent
}

export interface AuthenticatedUser {
  readonly status: number
  /** The user that the server reports. Undefined if the server reports no user. */
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
  readonly text: string
  readonly warnings: readonly string[]
}

/** Returns an agent that keeps connections open and presents the given certificate. */
export function agentOf(server: Served, pair?: CertifiedKey): Agent {
  const identity = pair === undefined ? {} : { cert: pair.certificate, key: pair.key }
  return new Agent({ keepAlive: true, maxSockets: 1, ca: caOf(server), ...identity })
}

export async function authenticatedUser(server: Served, credentials: Credentials): Promise<AuthenticatedUser> {
  const agent = credentials.agent ?? agentOf(server, credentials.certificate)
  try {
    return await ask(server, agent, credentials)
  } finally {
    if (credentials.agent === undefined) agent.destroy()
  }
}

function ask(server: Served, agent: Agent, { token, headers = {} }: Credentials): Promise<AuthenticatedUser> {
  const body = '{"apiVersion":"ops.orch.io/v1","kind":"WhoAmI"}'
  const options = {
    agent,
    method: 'POST',
    host: '127.0.0.1',
    port: server.port,
    path: '/apis/ops.orch.io/v1/whoamis',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
      'content-type': 'application/json',
      'content-length': String(body.length),
    },
  }
  return new Promise((resolve, reject) => {
    const asking = request(options, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () => {
        const warnings = answer.headersDistinct.warning ?? []
        resolve({ status: answer.statusCode ?? 0, text, warnings, ...identityIn(text) })
      })
      answer.on('error', reject)
    })
    asking.on('error', reject)
    // If the body were a string, Node.js would encode the headers in the same encoding as the body.
    asking.end(Buffer.from(body))
  })
}

function identityIn(text: string): Pick<AuthenticatedUser, 'user' | 'uid' | 'groups' | 'extra'> {
  const { kind, status } = JSON.parse(text)
  if (kind !== 'WhoAmI') return {}
  const { user, uid, groups, extra } = status
  return { user, uid, groups, ...(extra === undefined ? {} : { extra }) }
}
