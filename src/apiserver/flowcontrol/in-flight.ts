/**
 * The plain limits that count where priority and fairness is off: so many requests that read and so many that write may
 * be in flight at once, whoever sends them. One more is refused with 429.
 */
import { tooManyRequests } from '../../api/model/api-error.ts'
import type { Count } from '../../base/telemetry/metrics.ts'
import type { Occupancy } from './flow-control.ts'

/** How many requests may be in flight; 0 stands for any number. */
export interface InFlightLimits {
  readonly readOnly: number
  readonly mutating: number
}

/** Counts requests in flight. */
export class InFlight {
  readonly #limits: InFlightLimits
  readonly #dropped: { readonly readOnly: Count; readonly mutating: Count }
  readonly #count = { readOnly: 0, mutating: 0 }

  constructor(limits: InFlightLimits, dropped: { readonly readOnly: Count; readonly mutating: Count }) {
    this.#limits = limits
    this.#dropped = dropped
  }

  /** Throws 429 where too many are in flight already. */
  enter(kind: keyof InFlightLimits): Occupancy {
    const limit = this.#limits[kind]
    if (limit > 0 && this.#count[kind] >= limit) {
      this.#dropped[kind].value++
      throw tooManyRequests(
        `too many requests: ${limit} that ${kind === 'readOnly' ? 'read' : 'write'} are in flight already; try again`,
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
