/**
 * Limits concurrent requests if API priority and fairness is disabled. Reads and writes have separate limits, which
 * apply to all users together. Requests above a limit are rejected with 429.
 */
import { tooManyRequests } from '../../api/model/api-error.ts'
import type { Count } from '../../base/telemetry/metrics.ts'
import type { Occupancy } from './flow-control.ts'

/** Maximum numbers of concurrent requests. The value 0 means unlimited. */
export interface InFlightLimits {
  readonly readOnly: number
  readonly mutating: number
}

/** Counts active requests. */
export class InFlight {
  readonly #limits: InFlightLimits
  readonly #dropped: { readonly readOnly: Count; readonly mutating: Count }
  readonly #count = { readOnly: 0, mutating: 0 }

  constructor(limits: InFlightLimits, dropped: { readonly readOnly: Count; readonly mutating: Count }) {
    this.#limits = limits
    this.#dropped = dropped
  }

  /** Counts a request. Throws 429 if the limit is reached. */
  enter(kind: keyof InFlightLimits): Occupancy {
    const limit = this.#limits[kind]
    if (limit > 0 && this.#count[kind] >= limit) {
      this.#dropped[kind].value++
      throw tooManyRequests(
        `too many requests: ${limit} ${kind === 'readOnly' ? 'read' : 'write'} requests are already in flight; try again`,
      )
    }
    this.#count[kind]++
    let isOver = false
    return {
      release: () => {
        if (!isOver) this.#count[kind]--
        isOver = true
      },
    }
  }
}
