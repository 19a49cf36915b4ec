/**
 * Logs each slow request with the time spent in each part. Watches and other streams do not count as slow requests. On
 * an overloaded server, all requests are slow, so only a few lines per second are logged, and the next line contains
 * the number of omitted lines.
 */
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import { isLongRunning } from '../../apiserver/http/request/request-info.ts'
import type { Log, LogFields } from '../../base/telemetry/log.ts'

const slowMs = 1000
const linesPerSecond = 5

/** Logs slow requests. */
export class SlowRequests {
  readonly #log: Log
  readonly #describe: (exchange: Exchange) => LogFields
  #second = 0
  #lines = 0
  #leftOut = 0

  /** Creates a log for slow requests. `describe` returns the log fields of a request. */
  constructor(log: Log, describe: (exchange: Exchange) => LogFields) {
    this.#log = log
    this.#describe = describe
  }

  /**
   * Logs a request if it was slow. Must be called for every handled request. `now` is the current time on the monotonic
   * clock.
   */
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

/**
 * Returns the milliseconds spent in each part. The remainder, which is the server's own work, is reported as `other`.
 */
function whereTo({ arrived, timings }: Exchange, now: number): LogFields {
  const sums = timings.sums(now)
  const other = now - arrived - [...sums.values()].reduce((sum, ms) => sum + ms, 0)
  const rounded = [...sums, ['other', Math.max(other, 0)] as const].map(([name, ms]) => [`${name}Ms`, Math.round(ms)])
  return Object.fromEntries(rounded)
}
