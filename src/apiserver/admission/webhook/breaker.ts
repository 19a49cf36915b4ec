/**
 * Circuit breaker of a webhook. The breaker opens after five consecutive failures. While the breaker is open, the
 * failure policy applies immediately, and a few calls every ten seconds probe whether the webhook responds again. Only
 * failures to reach the webhook, such as timeouts, broken connections and invalid certificates, count. Any response
 * closes the breaker, even an invalid one.
 *
 * One client's object may make a webhook hang. Each probe therefore uses a call for a tenant whose calls have not
 * failed. A tenant can neither open the breaker for other tenants nor keep it open.
 */
import type { Clock } from '../../../base/time/clock.ts'

const maxFailures = 5
const probeEveryMs = 10_000
/**
 * Maximum number of tenants that can be affected by failures in one interval, including the tenants whose calls opened
 * the breaker.
 */
const maxProbers = 4

export interface BreakerState {
  readonly open: boolean
  /** Number of consecutive failures. */
  readonly failures: number
  readonly lastError: string | undefined
  /** Time of the last failure in milliseconds since 1970. */
  readonly lastFailureAt: number | undefined
  /** Latency of the last response in milliseconds. */
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
  /** Time of the last response, on the monotonic clock. */
  #lastAnswerAt = Number.NEGATIVE_INFINITY
  /**
   * Tenants whose calls failed or were probes in the current interval. Further calls for these tenants are rejected
   * without being sent.
   */
  readonly #probers = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns the reason why the webhook must not be called for this tenant, or undefined if it may be called. The caller
   * must report the result of every allowed call.
   */
  refusal(tenant: string): string | undefined {
    if (!this.#open) return undefined
    const now = this.#clock.monotonic()
    if (now >= this.#nextProbe) {
      this.#nextProbe = now + probeEveryMs
      this.#probers.clear()
    } else if (this.#probers.has(tenant) || this.#probers.size >= maxProbers) {
      return `the circuit breaker is open after ${this.#failures} failures; the last one: ${this.#lastError}`
    }
    this.#probers.add(tenant)
    return undefined
  }

  /** Whether the webhook has responded to a call since the given time on the monotonic clock. */
  hasAnsweredSince(time: number): boolean {
    return this.#lastAnswerAt >= time
  }

  answered(ms: number): void {
    this.#calls++
    this.#failures = 0
    this.#lastAnswerAt = this.#clock.monotonic()
    this.#probers.clear()
    this.#lastLatencyMs = ms
  }

  failed(error: string, tenant: string): void {
    this.#calls++
    this.#failures++
    if (this.#probers.size < maxProbers) this.#probers.add(tenant)
    this.#lastError = error
    this.#lastFailureAt = this.#clock.now()
    if (this.#open) this.#nextProbe = this.#clock.monotonic() + probeEveryMs
  }

  /** Reports an inconclusive call. If that call was a probe, the next call becomes the probe instead. */
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
