/**
 * One line of the log for each request that takes long, with where its time went. Watches and other streams are not slow,
 * they last. When a server is overloaded all requests are slow: a few lines a second are enough, and the next one says how
 * many were left out.
 */
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import { isLongRunning } from '../../apiserver/http/request/request-info.ts'
import type { Log, LogFields } from '../../base/telemetry/log.ts'

const slowMs = 1000
const linesPerSecond = 5

/** Writes the lines. */
export class SlowRequests {
  readonly #log: Log
  readonly #describe: (exchange: Exchange) => LogFields
  #second = 0
  #lines = 0
  #leftOut = 0

  /** `describe` gives the fields that say which request it is. */
  constructor(log: Log, describe: (exchange: Exchange) => LogFields) {
    this.#log = log
    this.#describe = describe
  }

  /** To be called for every request that has been handled; `now` by the monotonic clock. */
  look(exchange: Exchange, now: number): void {
    if (now - exchange.arrived < slowMs || exchange.info === undefined || isLongRunning(exchange.info)) return
    if (!this.#mayWrite(now)) {
      this.#leftOut++
      return
    }
    const leftOut = this.#leftOut === 0 ? {} : { leftOut: this.#leftOut }
    this.#leftOut = 0
    this.#log.info('slow request', { ...this.#describe(exchange), ...whereTo(exchange, now), ...leftOut })
  }

  #mayWrite(now: number): boolean {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) this.#lines = 0
    this.#second = second
    return ++this.#lines <= linesPerSecond
  }
}

/** Milliseconds by part, and what is left: work of this server's own. */
function whereTo({ arrived, timings }: Exchange, now: number): LogFields {
  const sums = timings.sums(now)
  const other = now - arrived - [...sums.values()].reduce((sum, ms) => sum + ms, 0)
  const rounded = [...sums, ['other', Math.max(other, 0)] as const].map(([name, ms]) => [`${name}Ms`, Math.round(ms)])
  return Object.fromEntries(rounded)
}
