/** Notes how long a step had to wait. One that does its part at once is not noted. */
import type { PartName } from '../../../base/telemetry/timings.ts'
import type { Step } from '../pipeline.ts'

/** The same step, with its waiting noted under this name. */
export function timed(name: PartName, step: Step): Step {
  return (exchange) => {
    const pending = step(exchange)
    return pending === undefined ? undefined : exchange.timings.time(name, pending)
  }
}
