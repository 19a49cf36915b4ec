/**
 * The HTTPS server of the manager. All clients may read `/healthz`, `/livez` and `/readyz`. For `/metrics`, the API
 * server must authenticate the client's token (TokenReview) and authorize the client (SubjectAccessReview). Review
 * results are cached for ten seconds. The server reads only the request line and one header of a request, and has no
 * other paths.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Exposer } from '../../base/telemetry/exposition.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Reviewer, reviewAccess, reviewToken } from '../../client/requests/reviews.ts'

export interface SecurePortParts {
  readonly address: string
  readonly port: number
  readonly pair: CertifiedKey
  readonly exposer: Exposer
  readonly clock: Clock
  /** Returns the client that authorizes requests for `/metrics`, or undefined while the API server is unreachable. */
  readonly reviewer: () => Reviewer | undefined
}

export interface SecurePort {
  readonly port: number
  close(): Promise<void>
}

const rememberedMs = 10_000
const maxConnections = 256
const healthPaths = ['/healthz', '/livez', '/readyz']

export async function openSecurePort(parts: SecurePortParts): Promise<SecurePort> {
  const verdicts = new TtlCache<number>(parts.clock)
  const { certificate: cert, key } = parts.pair
  const server = createServer({ cert, key, headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    answer(parts, verdicts, { request, response }).catch(() => end(response, 500, 'internal error'))
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new UsageError(`--secure-port: cannot listen on ${parts.address}, port ${parts.port}: ${error.message}`)),
    )
    server.listen(parts.port, parts.address, resolve)
  })
  server.on('error', () => {})
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

async function answer(parts: SecurePortParts, verdicts: TtlCache<number>, exchange: Exchange): Promise<void> {
  const { request, response } = exchange
  const path = (request.url ?? '').split('?')[0]!
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return end(response, 405, 'only GET and HEAD are supported')
  if (healthPaths.includes(path)) return end(response, 200, 'ok')
  if (path !== '/metrics')
    return end(response, 404, 'not found: this port serves /healthz, /livez, /readyz and /metrics')
  const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const verdict = token === undefined ? 401 : await verdicts.get(hashOf(token), () => judge(parts, token))
  if (verdict !== 200) return end(response, verdict, explanations[verdict] ?? '')
  const { mediaType, text } = await parts.exposer.expose()
  response.setHeader('content-type', mediaType)
  end(response, 200, text)
}

const explanations: { readonly [status: number]: string } = {
  401: 'send a token that the API server accepts: Authorization: Bearer TOKEN',
  403: 'the API server does not permit this user to get /metrics',
  503: 'cannot authenticate: the API server is unavailable',
}

/** Sends a response and then closes the connection, because requests are rare. */
function end(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.statusCode = status
  response.setHeader('connection', 'close')
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  if (status === 401) response.setHeader('www-authenticate', 'Bearer')
  response.end(text)
}

/** Returns the hash of a token. The cache contains only hashes, never the tokens. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

/** Returns the status of the response. The result of a failed review is not cached. */
async function judge({ reviewer }: SecurePortParts, token: string): Promise<{ value: number; ttlMs: number }> {
  const reviewClient = reviewer()
  if (reviewClient === undefined) return { value: 503, ttlMs: 0 }
  try {
    const user = await reviewToken(reviewClient, token)
    if (user === undefined) return { value: 401, ttlMs: rememberedMs }
    const isAllowed = await reviewAccess(reviewClient, user, {
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    })
    return { value: isAllowed ? 200 : 403, ttlMs: rememberedMs }
  } catch {
    return { value: 503, ttlMs: 0 }
  }
}
