/**
 * The circuit breaker of a webhook: after five failures in a row nobody waits for it any more. While it is open the
 * failure policy acts at once; one request in ten seconds is let through to see whether the webhook answers again. Only
 * failures to reach the webhook count (time-out, connection, certificate). Every answer closes the breaker, also a bad one.
 */
import type { Clock } from '../../../base/time/clock.ts'

const maxFailures = 5
const probeEveryMs = 10_000

export interface BreakerState {
  readonly open: boolean
  /** How many calls have failed in a row. */
  readonly failures: number
  readonly lastError: string | undefined
  /** When the last call failed, in milliseconds since 1970. */
  readonly lastFailureAt: number | undefined
  /** How long the last answer took. */
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
  /** When the next call is let through although it is open, on the monotonic clock. */
  #nextProbe = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why the webhook is not to be called now; undefined: it is. Every call that is allowed must be reported. */
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

  /** The call shows neither that the webhook works nor that it does not: the next call is let through in its place. */
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
