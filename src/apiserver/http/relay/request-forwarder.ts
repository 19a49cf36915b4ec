/**
 * Forwards requests to other servers: aggregated API servers, nodes and pods. The client is already authenticated and
 * authorized.
 *
 * Bodies, responses and watches are streamed only as fast as they are read. If a backend is overloaded or does not
 * respond, only the requests to this backend fail. Redirects are never followed, and are relayed only if they stay on
 * the requested backend (CVE-2022-3172). A tunnel opens only after the backend has responded with 101, and only to the
 * server that was chosen for this request. Any other response is relayed as an ordinary response (CVE-2018-1002105,
 * CVE-2020-8559).
 *
 * A browser would treat a relayed response as a page of this server's origin, so the page could act on behalf of the
 * visitor. Every response is therefore sandboxed: scripts do not run, and the page gets an opaque origin
 * (docs/decisions/0049).
 */
import { randomUUID } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { badRequest, tooManyRequests } from '../../../api/model/api-error.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { CallError } from '../../../wire/http/client/call-error.ts'
import { joinStreams } from '../../../wire/http/join-streams.ts'
import { valuesOf } from '../../../wire/http/raw-headers.ts'
import type { RelayedAnswer, RelayedRequest } from '../../outbound/https-relay.ts'
import type { ProxyTarget } from '../../outbound/proxy-target.ts'
import type { UpgradeRequest } from '../../transport/server-transport.ts'
import type { Exchange } from '../request/exchange.ts'
import { isLongRunning } from '../request/request-info.ts'
import { answerHeaders, hasPassed, requestHeaders } from './forwarded-headers.ts'
import { withLinks } from './html-links.ts'
import { type ForwardingLimits, RequestsInProgress } from './requests-in-progress.ts'
import { relayTunnel, requestedTunnel, type TunneledUpgrade } from './spdy-tunnel.ts'

export interface ForwarderParts {
  readonly clock: Clock
  /**
   * Names or prefixes, in lower case, of additional headers that backends trust for the user's identity. Headers with
   * these names are removed from the client's request.
   */
  readonly identityHeaders: readonly string[]
  /** Whether to send the UID of the user. */
  readonly sendsUid: boolean
  /** Maximum numbers of concurrent forwarded requests, including watches. */
  readonly limits: ForwardingLimits
}

interface Asking {
  readonly body: RelayedRequest['body']
  /** The protocol upgrade to request from the backend. Undefined to request the same upgrade as the client. */
  readonly tunneled: TunneledUpgrade | undefined
}

/** Timeout in milliseconds for receiving the response headers of a request that has no deadline, such as a watch. */
const maxTimeoutMs = 60_000
/**
 * Time in milliseconds before the request's deadline at which the server stops waiting for the backend, so that it can
 * still send its own timeout error.
 */
const reserveMs = 500
/** Maximum number of bytes of an error response to quote in a Status. */
const maxFailureBytes = 2048

const busyMessages = {
  user: 'too many requests from this user to other servers are in progress; try again',
  all: 'too many requests to other servers are in progress; try again',
}

/** Forwards requests, up to the configured limits. */
export class RequestForwarder {
  readonly #parts: ForwarderParts
  /**
   * The name of this server in the Via header. The name is unique, so a request that already contains it is in a
   * forwarding loop.
   */
  readonly #via = `1.1 orch-${randomUUID()}`
  readonly #underWay: RequestsInProgress

  constructor(parts: ForwarderParts) {
    this.#parts = parts
    this.#underWay = new RequestsInProgress(parts.limits)
  }

  async pass(exchange: Exchange, target: ProxyTarget): Promise<void> {
    const { transport } = exchange
    const { to, errors } = target
    // Over HTTP/2, a client can send characters in a path that HTTP/1.1 does not allow.
    if (/[^\x21-\xff]/.test(target.path)) throw badRequest('the path is not properly percent-encoded')
    if (hasPassed(transport.rawHeaders, this.#via))
      throw errors.unusable('it would send the request back to this server')
    if (target.mustSwitch && transport.upgrade === undefined) throw badRequest('Upgrade request required')
    const end = this.#underWay.begin(to, exchange.user)
    if (typeof end === 'string') throw end === 'server' ? errors.busy() : tooManyRequests(busyMessages[end])
    try {
      await this.#pass(exchange, target)
    } finally {
      end()
    }
  }

  async #pass(exchange: Exchange, target: ProxyTarget): Promise<void> {
    const body = relayedBody(exchange)
    const { spdyBackend } = target
    const tunneled = spdyBackend === undefined ? undefined : requestedTunnel(exchange, spdyBackend)
    try {
      const answer = await this.#ask(exchange, target, { body, tunneled })
      const { upgrade } = exchange.transport
      if (spdyBackend && tunneled && answer.switched !== undefined && upgrade !== undefined) {
        goOn(exchange)
        await relayTunnel(exchange, tunneled, { upgrade, socket: answer.switched, backend: spdyBackend })
      } else if (answer.switched === undefined || upgrade === undefined) await passAnswer(exchange, target, answer)
      else await tunnel(exchange, { ...answer, switched: answer.switched }, upgrade)
    } finally {
      // The server discards the rest of the body after the response. Destroy the body, so that the backend does not
      // mistake a partial body for a complete one, and so that a client that keeps sending does not keep the backend's
      // connection open.
      body?.stream.destroy()
    }
  }

  async #ask(exchange: Exchange, target: ProxyTarget, { body, tunneled }: Asking): Promise<RelayedAnswer> {
    const { transport, user } = exchange
    const { clock, identityHeaders, sendsUid } = this.#parts
    const leftMs = exchange.deadline - clock.monotonic() - reserveMs
    const isTraced = exchange.trace !== undefined
    try {
      return await target.relay.send({
        destination: await target.destination(),
        method: transport.method,
        path: target.path,
        headers: requestHeaders({
          rawHeaders: transport.rawHeaders,
          user: target.sendsUser ? user : undefined,
          address: transport.peer.address,
          identityHeaders,
          sendsUid,
          via: this.#via,
          // Ask for an uncompressed page, because its links must be rewritten.
          dropped: [
            ...(target.link === undefined ? [] : ['accept-encoding']),
            ...(isTraced ? ['tracestate'] : []),
            ...(tunneled?.dropped ?? []),
          ],
          // If this server records no trace, forward the client's trace headers unchanged.
          added: { ...(isTraced && exchange.traceHeaders), ...tunneled?.headers },
        }),
        body,
        upgrade: tunneled?.upgrade ?? transport.upgrade?.protocols,
        isEndless: isLongRunning(exchange.info),
        timeoutMs: Math.max(1, Math.min(leftMs, target.timeoutMs ?? maxTimeoutMs)),
        signal: exchange.abandoned,
      })
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      throw error.fault === 'aborted' ? badRequest(error.message) : target.errors.noAnswer(error)
    }
  }
}

/** Returns the request body to relay. Returns undefined if there is none, so that the backend does not wait for one. */
function relayedBody({ transport, headers }: Exchange): RelayedRequest['body'] {
  if (!transport.hasBody || transport.upgrade !== undefined) return undefined
  const announced = headers.one('content-length')
  const length = announced === undefined ? undefined : Number(announced)
  return { stream: transport.body, length, isWhole: () => transport.bodyWhole }
}

/** Whether a status is a redirect. A 304 is not a redirect: it means that the client's cached copy is current. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

async function passAnswer(exchange: Exchange, target: ProxyTarget, answer: RelayedAnswer): Promise<void> {
  const { status, rawHeaders, body } = answer
  const location = locationOf(target, answer)
  const why = unusableBecause(status, location)
  if (why !== undefined) {
    body.destroy()
    throw target.errors.unusable(why)
  }
  if (target.failure !== undefined && status >= 300) throw target.failure(status, await readStart(body))
  if (isLongRunning(exchange.info)) goOn(exchange)
  const { link } = target
  const hasLinks = link !== undefined && isPage(exchange.transport.method, rawHeaders)
  passHeaders(exchange, rawHeaders)
  exchange.setHeader('content-security-policy', 'sandbox')
  exchange.setHeader('x-content-type-options', 'nosniff')
  if (location !== undefined) exchange.setHeader('location', location)
  exchange.open(status, undefined)
  await passBody(exchange, body, hasLinks ? withLinks(body, link) : body)
}

/** Whether the response is an uncompressed HTML page. */
function isPage(method: string, rawHeaders: readonly string[]): boolean {
  const [contentType = ''] = valuesOf(rawHeaders, 'content-type')
  const [type = ''] = contentType.split(';', 1)
  return (
    method !== 'HEAD' &&
    type.trim().toLowerCase() === 'text/html' &&
    valuesOf(rawHeaders, 'content-encoding').length === 0
  )
}

function unusableBecause(status: number, location: string | undefined): string | undefined {
  if (isRedirect(status) && location === undefined)
    return `it responded with a redirect (${status}), which is not forwarded`
  return status < 200 || status > 599 ? `it responded with status ${status}` : undefined
}

/** Returns the Location header to relay, or undefined if the response has none or if it points to another host. */
function locationOf({ redirect }: ProxyTarget, { status, rawHeaders }: RelayedAnswer): string | undefined {
  const [location] = valuesOf(rawHeaders, 'location')
  if (location === undefined) return undefined
  if (isRedirect(status)) return redirect?.(location)
  // Other than redirects, only a 201 may have a Location header. Without a redirect function, backend and server use
  // the same paths.
  if (status !== 201) return undefined
  return redirect === undefined ? pathOnly(location) : redirect(location)
}

/**
 * Returns the Location header if it is a path on the same host, and undefined otherwise. Browsers treat `\\` like `/`,
 * and a path that starts with two slashes refers to another host.
 */
function pathOnly(location: string): string | undefined {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(location) ? location : undefined
}

async function readStart(body: RelayedAnswer['body']): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      parts.push(chunk)
      size += chunk.length
      if (size >= maxFailureBytes) break
    }
  } catch {
    // If the backend fails halfway through an error response, quote the part that has arrived.
  }
  return Buffer.concat(parts).subarray(0, maxFailureBytes).toString('utf8').trim()
}

/** Exempts a stream from the request's deadline and flow control, because it lasts until either side ends it. */
function goOn(exchange: Exchange): void {
  exchange.deadline = Number.POSITIVE_INFINITY
  exchange.seats?.release()
}

function passHeaders(exchange: Exchange, rawHeaders: readonly string[]): void {
  const headers = answerHeaders(rawHeaders)
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    if (name === 'warning') exchange.addHeader(name, value)
    else exchange.setHeader(name, value)
  }
}

/**
 * Relays the response body. A client that reads slowly slows the backend down. If the backend's response is truncated,
 * the server also closes the client's connection.
 */
async function passBody(exchange: Exchange, body: Readable, parts: AsyncIterable<Buffer>): Promise<void> {
  const { transport } = exchange
  try {
    for await (const chunk of parts) {
      if (exchange.disconnected) return
      if (chunk.length === 0) continue
      exchange.sentBytes += chunk.length
      // Wait until the chunk is sent. Meanwhile, the body merges small chunks, which then need fewer buffers.
      await transport.pass(chunk)
    }
    transport.end()
    exchange.complete = true
  } catch {
    transport.cut()
  } finally {
    body.destroy()
  }
}

/** Relays bytes in both directions without inspecting them. */
async function tunnel(
  exchange: Exchange,
  answer: RelayedAnswer & { readonly switched: Duplex },
  upgrade: UpgradeRequest,
): Promise<void> {
  goOn(exchange)
  passHeaders(exchange, answer.rawHeaders)
  exchange.setHeader('upgrade', valuesOf(answer.rawHeaders, 'upgrade')[0] ?? '')
  await joinStreams(exchange.switchProtocols(upgrade), answer.switched)
}
