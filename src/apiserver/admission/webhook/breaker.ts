/**
 * Circuit breaker of a webhook. It opens after five consecutive failures: then the failure policy applies at once, and
 * one call every ten seconds probes whether the webhook responds again. Only failures to reach the webhook count
 * (timeout, connection, certificate). Any response closes the breaker, even an invalid one.
 */
import type { Clock } from '../../../base/time/clock.ts'

const maxFailures = 5
const probeEveryMs = 10_000

export interface BreakerState {
  readonly open: boolean
  /** Number of consecutive failures. */
  readonly failures: number
  readonly lastError: string | undefined
  /** Time of the last failure in milliseconds since 1970. */
  readonly lastFailureAt: number | undefined
  /** Latency of the last response. */
  readonly lastLatencyMs: number | undefined
  readonly calls: number
}

export class Breaker {
  readonly #clock: Clock
  #failures = 0
  #calls = 0
  #lastError: string | undefined
  #lastFailureAt: number | undefined
  #lastLatencyMs: number | undefined
  /** Time of the next probe while the breaker is open, on the monotonic clock. */
  #nextProbe = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns why the webhook must not be called; undefined if it may be. The result of every allowed call must be
   * reported.
   */
  refusal(): string | undefined {
    if (!this.#open) return undefined
    const now = this.#clock.monotonic()
    if (now < this.#nextProbe)
      return `the circuit breaker is open after ${this.#failures} failures; the last one: ${this.#lastError}`
    this.#nextProbe = now + probeEveryMs
    return undefined
  }

  answered(ms: number): void {
    this.#calls++
    this.#failures = 0
    this.#lastLatencyMs = ms
  }

  failed(error: string): void {
    this.#calls++
    this.#failures++
    this.#lastError = error
    this.#lastFailureAt = this.#clock.now()
    if (this.#open) this.#nextProbe = this.#clock.monotonic() + probeEveryMs
  }

  /** The call was inconclusive. The next call becomes the probe instead. */
  undecided(): void {
    this.#nextProbe = 0
  }

  get state(): BreakerState {
    return {
      open: this.#open,
      failures: this.#failures,
      lastError: this.#lastError,
      lastFailureAt: this.#lastFailureAt,
      lastLatencyMs: this.#lastLatencyMs,
      calls: this.#calls,
    }
  }

  get #open(): boolean {
    return this.#failures >= maxFailures
  }
}
