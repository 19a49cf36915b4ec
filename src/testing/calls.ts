/**
 * Records the calls that clients make to a test server, in order of arrival and up to a maximum number.
 *
 * Calls by the server's own control loops are omitted unless a match names their user, because they would distract from
 * the calls of the controller under test.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Exchange } from '../apiserver/http/request/exchange.ts'
import type { Call, CallLog, CallMatch } from './call-log.ts'

const defaultMaxCalls = 10_000
const defaultTimeoutMs = 5_000

/** A recorded call that may still be running. */
class OpenCall implements Call {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
  #user = ''
  #code = 0
  /** The request. Undefined after it has been handled. */
  #exchange: Exchange | undefined

  constructor(exchange: Exchange) {
    const { info } = exchange
    this.#exchange = exchange
    this.verb = info.verb
    this.path = info.path
    this.group = info.resource ? info.group : ''
    this.resource = info.resource ? `${info.plural}${info.subresource && `/${info.subresource}`}` : ''
    this.namespace = info.resource ? info.namespace : ''
    this.name = info.resource ? info.name : ''
  }

  get user(): string {
    return this.#exchange === undefined ? this.#user : userOf(this.#exchange)
  }

  get code(): number {
    return this.#exchange?.status ?? this.#code
  }

  /** Marks the call as handled. Releases the request, which may be large. */
  end(exchange: Exchange): void {
    this.#user = userOf(exchange)
    this.#code = exchange.status
    this.#exchange = undefined
  }

  toJSON(): Call {
    const { verb, group, resource, namespace, name, user, path, code } = this
    return { verb, group, resource, namespace, name, user, path, code }
  }
}

/** Returns the user of a request, or '' before the request is authenticated. */
function userOf(exchange: Exchange): string {
  return (exchange.user as Exchange['user'] | undefined)?.name ?? ''
}

/** Records calls as the request pipeline reports them. */
export class Calls implements CallLog {
  readonly #isOwn: (user: string) => boolean
  readonly #max: number
  #calls: OpenCall[] = []
  readonly #open = new Map<Exchange, OpenCall>()
  readonly #listeners = new Set<(call: Call) => void>()

  constructor(isOwn: (user: string) => boolean, max = defaultMaxCalls) {
    this.#isOwn = isOwn
    this.#max = max
  }

  list(match: CallMatch = {}): Call[] {
    return this.#calls.filter((call) => this.matches(call, match))
  }

  [Symbol.iterator](): Iterator<Call> {
    return this.list()[Symbol.iterator]()
  }

  async next(match: CallMatch = {}, { timeoutMs = defaultTimeoutMs } = {}): Promise<Call> {
    const nextCall = Promise.withResolvers<Call>()
    const listener = (call: Call) => {
      if (this.matches(call, match)) nextCall.resolve(call)
    }
    this.#listeners.add(listener)
    const over = new AbortController()
    const late = delay(timeoutMs, undefined, { signal: over.signal }).then(() => {
      throw new Error(`within ${timeoutMs} ms, no call matched ${JSON.stringify(match)}`)
    })
    try {
      return await Promise.race([nextCall.promise, late])
    } finally {
      over.abort()
      late.catch(() => {})
      this.#listeners.delete(listener)
    }
  }

  clear(): void {
    this.#calls = []
  }

  /**
   * Whether a call has all properties that the match specifies. Calls by the server's own loops match only if the match
   * specifies a user.
   */
  matches(call: Call, match: CallMatch): boolean {
    if (match.user === undefined && this.#isOwn(call.user)) return false
    return fields.every((field) => match[field] === undefined || match[field] === call[field])
  }

  /** Records a request that has arrived. */
  begin(exchange: Exchange): void {
    const call = new OpenCall(exchange)
    this.#open.set(exchange, call)
    this.#calls.push(call)
    // Drop several calls at a time, so that the cost per call stays low.
    if (this.#calls.length > this.#max * 1.1) this.#calls = this.#calls.slice(-this.#max)
  }

  /** Returns the log entry of a running request. */
  of(exchange: Exchange): Call {
    return this.#open.get(exchange)!
  }

  /** Returns the matching requests that are still running. */
  underWay(match: CallMatch): Exchange[] {
    return [...this.#open].filter(([, call]) => this.matches(call, match)).map(([exchange]) => exchange)
  }

  /** Completes the log entry of a request that has been handled. */
  end(exchange: Exchange): void {
    const call = this.#open.get(exchange)
    this.#open.delete(exchange)
    if (call === undefined) return
    call.end(exchange)
    for (const listener of this.#listeners) listener(call)
  }
}

const fields = ['verb', 'group', 'resource', 'namespace', 'name', 'user'] as const
