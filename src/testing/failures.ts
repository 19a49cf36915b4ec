/**
 * Failures that a test injects. Each failure applies once, to the next matching call. Failures happen inside the
 * server, after authentication, so they have the same effect over TLS as in-process.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '../api/model/api-error.ts'
import type { Exchange } from '../apiserver/http/request/exchange.ts'
import type { ResponseHeaders, ServerTransport } from '../apiserver/transport/server-transport.ts'
import type { Call, CallMatch } from './call-log.ts'
import type { Calls } from './calls.ts'
import type { Failure, PlannedFailure } from './failure.ts'

interface Plan {
  readonly match: CallMatch
  readonly failure: Failure
  readonly happened: PromiseWithResolvers<Call>
}

/** The failures that a test has planned but that have not happened yet. */
export class Failures {
  readonly #calls: Calls
  readonly #plans = new Set<Plan>()
  readonly #stopped = new AbortController()

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** Plans a failure. Failures apply in the order in which they were planned. */
  plan(match: CallMatch, failure: Failure): PlannedFailure {
    checkFailure(failure)
    const plan: Plan = { match, failure, happened: Promise.withResolvers() }
    this.#plans.add(plan)
    return { happened: plan.happened.promise, cancel: () => void this.#plans.delete(plan) }
  }

  clear(): void {
    this.#plans.clear()
  }

  /** Cancels planned failures and ends running delays. */
  close(): void {
    this.clear()
    this.#stopped.abort()
  }

  /**
   * Applies a planned failure to a request. This is a pipeline step, so an error that it throws becomes the response.
   */
  strike(exchange: Exchange): void | Promise<void> {
    if (this.#plans.size === 0) return
    const call = this.#calls.of(exchange)
    for (const plan of this.#plans) {
      if (!this.#calls.matches(call, plan.match)) continue
      this.#plans.delete(plan)
      plan.happened.resolve(call)
      return this.#carryOut(exchange, plan.failure)
    }
  }

  #carryOut(exchange: Exchange, failure: Failure): void | Promise<void> {
    if ('code' in failure) throw errorOf(failure)
    if ('delayMs' in failure) return this.#pause(failure.delayMs, exchange)
    if (failure.cut === 'request') throw cutOff(exchange)
    exchange.transport = new CutTransport(exchange.transport, failure.afterEvents ?? 0)
  }

  async #pause(ms: number, exchange: Exchange): Promise<void> {
    const signal = AbortSignal.any([exchange.abandoned, this.#stopped.signal])
    await delay(ms, undefined, { signal }).catch(() => {})
  }
}

function checkFailure(failure: Failure): void {
  const { code } = failure as { code?: number }
  if (code !== undefined && !(Number.isInteger(code) && code >= 400 && code <= 599))
    throw new TypeError(`${code} is not an error code: use 400 to 599`)
}

const reasons: { readonly [code: number]: string } = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function errorOf({ code, reason, message, retryAfter }: Extract<Failure, { code: number }>): ApiError {
  const details = retryAfter === undefined ? undefined : { retryAfterSeconds: retryAfter }
  return new ApiError(code, reason ?? reasons[code] ?? '', message ?? 'a failure that the test requested', details)
}

/** Closes the connection. Returns an error that ends the pipeline without a response. */
export function cutOff(exchange: Exchange): ApiError {
  exchange.answered = true
  exchange.transport.cut()
  return new ApiError(500, 'InternalError', 'the connection was closed, as the test requested')
}

/** A transport that executes the request but cuts off its response. */
class CutTransport implements ServerTransport {
  readonly #inner: ServerTransport
  #eventsLeft: number

  constructor(inner: ServerTransport, events: number) {
    this.#inner = inner
    this.#eventsLeft = events
  }

  get method() {
    return this.#inner.method
  }

  get target() {
    return this.#inner.target
  }

  get rawHeaders() {
    return this.#inner.rawHeaders
  }

  get peer() {
    return this.#inner.peer
  }

  get disconnected() {
    return this.#inner.disconnected
  }

  get signal() {
    return this.#inner.signal
  }

  get hasBody() {
    return this.#inner.hasBody
  }

  get body() {
    return this.#inner.body
  }

  get bodyAtHand() {
    return this.#inner.bodyAtHand
  }

  get bodyWhole() {
    return this.#inner.bodyWhole
  }

  send(): void {
    this.cut()
  }

  responseRead(): Promise<void> {
    return this.#inner.responseRead()
  }

  open(status: number, headers: ResponseHeaders): void {
    this.#inner.open(status, headers)
    if (this.#eventsLeft === 0) this.cut()
  }

  write(chunk: Buffer): Promise<void> | undefined {
    const end = endOfEvents(chunk, this.#eventsLeft)
    this.#eventsLeft -= end.events
    const room = this.#inner.write(chunk.subarray(0, end.bytes))
    if (this.#eventsLeft > 0) return room
    // Let earlier writes reach the client before cutting the connection.
    return (room ?? delay(0)).then(() => this.cut())
  }

  async pass(chunk: Buffer): Promise<void> {
    await this.write(chunk)
  }

  end(): void {
    this.cut()
  }

  cut(): void {
    this.#inner.cut()
  }
}

/**
 * Returns the number of complete events in a chunk, and their size. JSON events are lines. Protobuf events have a
 * length prefix.
 */
function endOfEvents(chunk: Buffer, max: number): { events: number; bytes: number } {
  let bytes = 0
  let events = 0
  const isJson = chunk[0] === 0x7b
  while (events < max && bytes < chunk.length) {
    bytes = isJson ? chunk.indexOf(0x0a, bytes) + 1 || chunk.length : bytes + 4 + chunk.readUInt32BE(bytes)
    events++
  }
  return { events, bytes }
}
