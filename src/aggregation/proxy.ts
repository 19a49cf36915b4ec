/**
 * Passes requests on to aggregated API servers. By then this server has authenticated and authorized the client; admission
 * and storage are the backend's own.
 *
 * Bodies, answers and watches are streamed at the pace of their reader. A backend that is known to be out of reach, that
 * has too much under way or that does not answer costs its own requests a clear refusal, and nobody else anything. A
 * redirect is never passed on (CVE-2022-3172). A tunnel opens only when the backend itself has answered 101, and leads to
 * the backend that this request was resolved to; any other answer is an ordinary answer (CVE-2018-1002105, CVE-2020-8559).
 */
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import type { Exchange, UpgradeRequest } from '../http/exchange.ts'
import { isLongRunning } from '../http/request-info.ts'
import { ApiError, badRequest, timeout } from '../model/api-error.ts'
import { CallError } from '../outbound/call-error.ts'
import type { HttpsRelay, RelayedAnswer, RelayedRequest } from '../outbound/https-relay.ts'
import type { Backend, Backends } from './backends.ts'
import { answerHeaders, hasPassed, mayRepeat, requestHeaders } from './forwarded-headers.ts'

export interface ProxyParts {
  readonly backends: Backends
  readonly relay: HttpsRelay
  readonly clock: Clock
  /** Why a backend was out of reach when this server last looked; undefined: it was not, or nobody has looked. */
  readonly faultOf: (backend: Backend) => string | undefined
  /** Called where a backend could not be reached. */
  readonly onUnreachable: (backend: Backend) => void
  /** Further names, or beginnings of names, of headers by which backends are told who asks; in lower case. */
  readonly identityHeaders: readonly string[]
  /** How many requests to one backend may be under way, watches among them. */
  readonly maxUnderWay: number
}

/** How long a backend may take to begin its answer, where the request itself has no limit: a watch. */
const longestMs = 60_000
/** The answer that a backend took too long is ours to give, before the request's own time is over. */
const reserveMs = 500

export class AggregationProxy {
  readonly #parts: ProxyParts
  /** Tells this server from every other: a request that comes back is going in a circle. */
  readonly #via = `1.1 orch-${randomUUID()}`
  readonly #underWay = new Map<string, number>()

  constructor(parts: ProxyParts) {
    this.#parts = parts
  }

  /** Passes a request on to a path of the backend; by default to the path that the client asked for. */
  async handle(exchange: Exchange, backend: Backend, target = exchange.transport.target): Promise<void> {
    const { transport } = exchange
    const fault = this.#parts.faultOf(backend)
    if (fault !== undefined) throw unavailable(backend, fault)
    // HTTP/2 lets a client send what no head in HTTP/1.1 may hold.
    if (/[^\x21-\xff]/.test(target)) throw badRequest('the path is not properly percent-encoded')
    if (hasPassed(transport.rawHeaders, this.#via)) throw inCircle(backend)
    const underWay = this.#underWay.get(backend.name) ?? 0
    if (underWay >= this.#parts.maxUnderWay) throw busy(backend)
    this.#underWay.set(backend.name, underWay + 1)
    try {
      await this.#pass(exchange, backend, target)
    } finally {
      const left = this.#underWay.get(backend.name)! - 1
      if (left === 0) this.#underWay.delete(backend.name)
      else this.#underWay.set(backend.name, left)
    }
  }

  async #pass(exchange: Exchange, backend: Backend, target: string): Promise<void> {
    const answer = await this.#ask(exchange, backend, target)
    const { upgrade } = exchange.transport
    if (answer.switched === undefined || upgrade === undefined) await passAnswer(exchange, backend, answer)
    else await tunnel(exchange, { ...answer, switched: answer.switched }, upgrade)
  }

  async #ask(exchange: Exchange, backend: Backend, target: string): Promise<RelayedAnswer> {
    const { transport, user } = exchange
    const { backends, relay, clock, identityHeaders } = this.#parts
    const leftMs = exchange.deadline - clock.monotonic() - reserveMs
    try {
      return await relay.send({
        destination: backends.destinationOf(backend),
        method: transport.method,
        path: target,
        headers: requestHeaders({
          rawHeaders: transport.rawHeaders,
          user,
          address: transport.peer.address,
          identityHeaders,
          via: this.#via,
        }),
        body: bodyOf(exchange),
        upgrade: transport.upgrade?.protocols,
        timeoutMs: Math.max(1, Math.min(leftMs, longestMs)),
        signal: exchange.abandoned,
      })
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (error.fault !== 'aborted') this.#parts.onUnreachable(backend)
      throw errorOf(backend, error)
    }
  }
}

/** Undefined where there is none: then nothing is announced to the backend either. */
function bodyOf({ transport, headers }: Exchange): RelayedRequest['body'] {
  if (!transport.hasBody || transport.upgrade !== undefined) return undefined
  const announced = headers.one('content-length')
  const length = announced === undefined ? undefined : Number(announced)
  return { stream: transport.body, length, isWhole: () => transport.bodyWhole }
}

function errorOf(backend: Backend, { fault, message }: CallError): ApiError {
  if (fault === 'aborted') return new ApiError(400, 'BadRequest', message)
  if (fault === 'timeout') return timeout(`the backend of the APIService "${backend.name}" gave ${message}`)
  if (fault === 'answer') return badGateway(backend, message)
  return unavailable(backend, message)
}

function unavailable({ name }: Backend, why: string): ApiError {
  // Without a time to try again: clients take one as permission to repeat what may have happened, and wait.
  return new ApiError(503, 'ServiceUnavailable', `the backend of the APIService "${name}" cannot be reached: ${why}`)
}

function busy({ name }: Backend): ApiError {
  const message = `too many requests to the backend of the APIService "${name}" are under way; try again`
  return new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
}

function badGateway({ name }: Backend, why: string): ApiError {
  return new ApiError(502, 'InternalError', `the backend of the APIService "${name}" cannot be used: ${why}`)
}

function inCircle(backend: Backend): ApiError {
  return badGateway(backend, 'it leads the request back to this server')
}

/** 304 says that the client has the answer already, and leads nowhere. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

async function passAnswer(exchange: Exchange, backend: Backend, { status, rawHeaders, body }: RelayedAnswer) {
  const why = isRedirect(status)
    ? `it answered with a redirect (${status}), which is not passed on`
    : status < 200 || status > 599
      ? `it answered with the status ${status}`
      : undefined
  if (why !== undefined) {
    body.destroy()
    throw badGateway(backend, why)
  }
  if (isLongRunning(exchange.info)) goOn(exchange)
  passHeaders(exchange, { status, rawHeaders })
  exchange.open(status, undefined)
  await passBody(exchange, body)
}

/** A stream goes on for as long as both sides like, and holds nothing that others wait for. */
function goOn(exchange: Exchange): void {
  exchange.deadline = Number.POSITIVE_INFINITY
  exchange.seats?.release()
}

function passHeaders(exchange: Exchange, { status, rawHeaders }: Pick<RelayedAnswer, 'status' | 'rawHeaders'>): void {
  const headers = answerHeaders(rawHeaders)
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    // Only of what was created is it no way to somewhere else.
    if (name === 'location' && status !== 201) continue
    if (mayRepeat(name)) exchange.addHeader(name, value)
    else exchange.setHeader(name, value)
  }
}

/** Whoever reads slowly slows the backend down; an answer that breaks off is cut off here too. */
async function passBody(exchange: Exchange, body: RelayedAnswer['body']): Promise<void> {
  const { transport } = exchange
  try {
    for await (const chunk of body) {
      if (exchange.gone) return
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

/** From here on neither side's bytes are looked at; when one side ends or breaks, so does the other. */
async function tunnel(
  exchange: Exchange,
  answer: RelayedAnswer & { readonly switched: Duplex },
  upgrade: UpgradeRequest,
): Promise<void> {
  goOn(exchange)
  passHeaders(exchange, answer)
  const chosen = answer.rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === 'upgrade')
  exchange.setHeader('upgrade', answer.rawHeaders[chosen + 1] ?? '')
  await joined(exchange.switchProtocols(upgrade), answer.switched)
}

/** Resolves when both are closed. */
function joined(one: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      one.destroy()
      other.destroy()
      resolve()
    }
    for (const side of [one, other]) side.on('error', end).on('close', end)
    one.pipe(other)
    other.pipe(one)
  })
}
