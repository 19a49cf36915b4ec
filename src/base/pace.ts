/**
 * Long work in steps, between which others get their turn of the event loop. Whoever loops tells what each step has
 * cost, and rests when it is told so:
 *
 *   for (const step of steps) {
 *     work(step)
 *     if (pace.spent(512)) await pace.rest()
 *   }
 *
 * Costs are counted in units of about a microsecond. The clock is looked at now and then only; so short work never
 * rests, and always runs in the same order.
 */
import { setImmediate } from 'node:timers/promises'

/** How long one may work at a stretch. Many work at the same time, so it is far less than anybody would notice. */
const stretchMs = 5
const unitsBetweenLooks = 2000

export class Pace {
  #since = performance.now()
  #units = 0

  /** Whether it is time to rest, now that so much has been done. */
  spent(units: number): boolean {
    this.#units += units
    if (this.#units < unitsBetweenLooks) return false
    this.#units = 0
    return performance.now() - this.#since >= stretchMs
  }

  /** Lets everybody else have a turn. */
  async rest(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
