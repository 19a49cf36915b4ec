/** Measures how long requests wait in an asynchronous pipeline step. Synchronous steps are not measured. */
import type { PartName } from '../../../base/telemetry/timings.ts'
import type { Step } from '../pipeline.ts'

/** Wraps a step so that its waiting time is recorded under the given name. */
export function measureStep(name: PartName, step: Step): Step {
  return (exchange) => {
    const pending = step(exchange)
    return pending === undefined ? undefined : exchange.timings.time(name, pending)
  }
}
