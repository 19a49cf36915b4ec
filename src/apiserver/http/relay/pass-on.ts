/**
 * Passes requests on to other servers: aggregated ones, nodes, pods. By then this server has authenticated and authorized
 * the client.
 *
 * Bodies, answers and watches are streamed at the pace of their reader. A server that has too much under way or that does
 * not answer costs its own requests a clear refusal, and nobody else anything. A redirect is never followed, and not passed
 * on unless it stays where the request went (CVE-2022-3172). A tunnel opens only when the other server itself has answered
 * 101, and leads to the server that this request was resolved to; any other answer is an ordinary answer
 * (CVE-2018-1002105, CVE-2020-8559).
 *
 * To a browser an answer would be a page of this server's own origin, which may act as the visitor. So every answer is
 * sandboxed: its scripts do not run, and it is of an origin of its own (docs/decisions/0049).
 */
import { randomUUID } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { badRequest, tooManyRequests } from '../../../api/model/api-error.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { joinStreams } from '../../../wire/http/join-streams.ts'
import { valuesOf } from '../../../wire/http/raw-headers.ts'
import { CallError } from '../../outbound/call-error.ts'
import type { RelayedAnswer, RelayedRequest } from '../../outbound/https-relay.ts'
import type { Passage } from '../../outbound/passage.ts'
import type { UpgradeRequest } from '../../transport/server-transport.ts'
import type { Exchange } from '../request/exchange.ts'
import { isLongRunning } from '../request/request-info.ts'
import { answerHeaders, hasPassed, requestHeaders } from './forwarded-headers.ts'
import { withLinks } from './html-links.ts'
import { RequestsUnderWay, type UnderWayLimits } from './requests-under-way.ts'

export interface PasserParts {
  readonly clock: Clock
  /** Further names, or beginnings of names, of headers by which servers are told who asks; in lower case. */
  readonly identityHeaders: readonly string[]
  /** How many requests may be under way, watches among them. */
  readonly limits: UnderWayLimits
}

/** How long the beginning of an answer may take, where the request itself has no limit: a watch. */
const longestMs = 60_000
/** The answer that a server took too long is ours to give, before the request's own time is over. */
const reserveMs = 500
/** Of an answer that is read to be told in a Status. */
const maxFailureBytes = 2048

const busyMessages = {
  user: 'too many requests of this user to other servers are under way; try again',
  all: 'too many requests to other servers are under way; try again',
}

/** Passes requests on, as many at a time as may be. */
export class RequestPasser {
  readonly #parts: PasserParts
  /** Tells this server from every other: a request that comes back is going in a circle. */
  readonly #via = `1.1 orch-${randomUUID()}`
  readonly #underWay: RequestsUnderWay

  constructor(parts: PasserParts) {
    this.#parts = parts
    this.#underWay = new RequestsUnderWay(parts.limits)
  }

  async pass(exchange: Exchange, passage: Passage): Promise<void> {
    const { transport } = exchange
    const { to, errors } = passage
    // HTTP/2 lets a client send what no head in HTTP/1.1 may hold.
    if (/[^\x21-\xff]/.test(passage.path)) throw badRequest('the path is not properly percent-encoded')
    if (hasPassed(transport.rawHeaders, this.#via)) throw errors.unusable('it leads the request back to this server')
    if (passage.mustSwitch && transport.upgrade === undefined) throw badRequest('Upgrade request required')
    const end = this.#underWay.begin(to, exchange.user)
    if (typeof end === 'string') throw end === 'server' ? errors.busy() : tooManyRequests(busyMessages[end])
    try {
      await this.#pass(exchange, passage)
    } finally {
      end()
    }
  }

  async #pass(exchange: Exchange, passage: Passage): Promise<void> {
    const answer = await this.#ask(exchange, passage)
    const { upgrade } = exchange.transport
    if (answer.switched === undefined || upgrade === undefined) await passAnswer(exchange, passage, answer)
    else await tunnel(exchange, { ...answer, switched: answer.switched }, upgrade)
  }

  async #ask(exchange: Exchange, passage: Passage): Promise<RelayedAnswer> {
    const { transport, user } = exchange
    const { clock, identityHeaders } = this.#parts
    const leftMs = exchange.deadline - clock.monotonic() - reserveMs
    const isTraced = exchange.trace !== undefined
    try {
      return await passage.relay.send({
        destination: await passage.destination(),
        method: transport.method,
        path: passage.path,
        headers: requestHeaders({
          rawHeaders: transport.rawHeaders,
          user: passage.tellsUser ? user : undefined,
          address: transport.peer.address,
          identityHeaders,
          via: this.#via,
          // A page whose links are changed has to be readable here.
          dropped: [...(passage.link === undefined ? [] : ['accept-encoding']), ...(isTraced ? ['tracestate'] : [])],
          // Where nothing is recorded here the client's own are passed on as they are.
          added: isTraced ? exchange.traceHeaders : {},
        }),
        body: bodyOf(exchange),
        upgrade: transport.upgrade?.protocols,
        isEndless: isLongRunning(exchange.info),
        timeoutMs: Math.max(1, Math.min(leftMs, passage.timeoutMs ?? longestMs)),
        signal: exchange.abandoned,
      })
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      throw error.fault === 'aborted' ? badRequest(error.message) : passage.errors.noAnswer(error)
    }
  }
}

/** Undefined where there is none: then nothing is announced to the other server either. */
function bodyOf({ transport, headers }: Exchange): RelayedRequest['body'] {
  if (!transport.hasBody || transport.upgrade !== undefined) return undefined
  const announced = headers.one('content-length')
  const length = announced === undefined ? undefined : Number(announced)
  return { stream: transport.body, length, isWhole: () => transport.bodyWhole }
}

/** 304 says that the client has the answer already, and leads nowhere. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

async function passAnswer(exchange: Exchange, passage: Passage, answer: RelayedAnswer): Promise<void> {
  const { status, rawHeaders, body } = answer
  const location = locationOf(passage, answer)
  const why = unusableBecause(status, location)
  if (why !== undefined) {
    body.destroy()
    throw passage.errors.unusable(why)
  }
  if (passage.failure !== undefined && status >= 300) throw passage.failure(status, await readStart(body))
  if (isLongRunning(exchange.info)) goOn(exchange)
  const { link } = passage
  const hasLinks = link !== undefined && isPage(exchange.transport.method, rawHeaders)
  passHeaders(exchange, rawHeaders)
  exchange.setHeader('content-security-policy', 'sandbox')
  exchange.setHeader('x-content-type-options', 'nosniff')
  if (location !== undefined) exchange.setHeader('location', location)
  exchange.open(status, undefined)
  await passBody(exchange, body, hasLinks ? withLinks(body, link) : body)
}

/** Whether the answer is a page in HTML that can be read here. */
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
    return `it answered with a redirect (${status}), which is not passed on`
  return status < 200 || status > 599 ? `it answered with the status ${status}` : undefined
}

/** Where the client may look on; undefined where the answer names no place, or one on another host. */
function locationOf({ redirect }: Passage, { status, rawHeaders }: RelayedAnswer): string | undefined {
  const [location] = valuesOf(rawHeaders, 'location')
  if (location === undefined) return undefined
  if (isRedirect(status)) return redirect?.(location)
  // Only of what was created is it no way to somewhere else. Without a rewrite both servers have the same paths.
  if (status !== 201) return undefined
  return redirect === undefined ? pathOnly(location) : redirect(location)
}

/** Browsers take `\\` for `/`, and leave the host where a path begins with two of them. */
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
    // What came before it broke off is told.
  }
  return Buffer.concat(parts).subarray(0, maxFailureBytes).toString('utf8').trim()
}

/** A stream goes on for as long as both sides like, and holds nothing that others wait for. */
function goOn(exchange: Exchange): void {
  exchange.deadline = Number.POSITIVE_INFINITY
  exchange.seats?.release()
}

function passHeaders(exchange: Exchange, rawHeaders: readonly string[]): void {
  const headers = answerHeaders(rawHeaders)
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    if (name === 'warning') exchange.addHeader(name, value)
    else exchange.setHeader(name, value)
  }
}

/** Whoever reads slowly slows the other server down; an answer that breaks off is cut off here too. */
async function passBody(exchange: Exchange, body: Readable, parts: AsyncIterable<Buffer>): Promise<void> {
  const { transport } = exchange
  try {
    for await (const chunk of parts) {
      if (exchange.gone) return
      if (chunk.length === 0) continue
      exchange.sentBytes += chunk.length
      await transport.write(chunk)
    }
    transport.end()
    exchange.complete = true
  } catch {
    transport.cut()
  } finally {
    body.destroy()
  }
}

/** From here on neither side's bytes are looked at. */
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
