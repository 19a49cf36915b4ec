/**
 * Authentication metrics: attempts, results and durations, and requests by user for well-known user names. All series
 * are created at startup, because every request updates them.
 */

import type { User } from '../../api/model/user.ts'
import { type Count, Counter, type Distribution, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AuthenticationOutcome, Authenticator } from './authenticator.ts'

/** Upper bounds of the histogram buckets in seconds, from 1 ms to 16 s. Each bound is twice the previous one. */
const durations = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i)
const results = 'success, failure (no or unknown credentials) or error (invalid credentials)'

interface Series {
  readonly attempts: Count
  readonly duration: Distribution
}

/** Counts attempts by result, and requests by well-known user. */
export class AuthenticationMetrics {
  readonly #clock: Clock
  readonly #attempts = new Counter({
    name: 'authentication_attempts',
    help: `Number of authentication attempts by result: ${results}.`,
    labels: ['result'],
  })
  readonly #durations = new Histogram(
    {
      name: 'authentication_duration_seconds',
      help: `Duration of authentication by result: ${results}.`,
      labels: ['result'],
    },
    durations,
  )
  readonly #users = new Counter({
    name: 'authenticated_user_requests',
    help: 'Number of authenticated requests by user. Only well-known users are named.',
    labels: ['username'],
  })
  readonly metrics: readonly Metric[] = [this.#attempts, this.#durations, this.#users]
  readonly #success = this.#seriesOf('success')
  readonly #failure = this.#seriesOf('failure')
  readonly #error = this.#seriesOf('error')
  readonly #requests = new WeakMap<User, Count>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Wraps an authenticator so that its results and durations are measured. A synchronous authenticator stays
   * synchronous.
   */
  measured(authenticator: Authenticator): Authenticator {
    return (credentials) => {
      const began = this.#clock.monotonic()
      try {
        const outcome = authenticator(credentials)
        return outcome instanceof Promise ? this.#countLater(outcome, began) : this.#count(outcome, began)
      } catch (error) {
        this.#end(this.#error, began)
        throw error
      }
    }
  }

  #count(outcome: AuthenticationOutcome, began: number): AuthenticationOutcome {
    if (outcome.result === 'user') this.#requestsOf(outcome.user).value++
    this.#end(this.#seriesFor(outcome), began)
    return outcome
  }

  async #countLater(outcome: Promise<AuthenticationOutcome>, began: number): Promise<AuthenticationOutcome> {
    try {
      return this.#count(await outcome, began)
    } catch (error) {
      this.#end(this.#error, began)
      throw error
    }
  }

  #end({ attempts, duration }: Series, began: number): void {
    attempts.value++
    duration.observe((this.#clock.monotonic() - began) / 1000)
  }

  #seriesFor({ result }: AuthenticationOutcome): Series {
    if (result === 'user') return this.#success
    return result === 'none' ? this.#failure : this.#error
  }

  #seriesOf(result: string): Series {
    return { attempts: this.#attempts.at(result), duration: this.#durations.at(result) }
  }

  #requestsOf(user: User): Count {
    const counter = this.#requests.get(user)
    if (counter !== undefined) return counter
    const requests = this.#users.at(publicName(user))
    this.#requests.set(user, requests)
    return requests
  }
}

const wellKnown = new Set(['admin', 'client', 'kubelet', 'kube_proxy', 'system:serviceaccount:kube-system:default'])

/**
 * Returns the user name for metrics. Most names are hidden, because they are private and would lead to an unbounded
 * number of series.
 */
function publicName({ name }: User): string {
  if (wellKnown.has(name)) return name
  return name.includes('@') ? 'email_id' : 'other'
}
