/** Creates the flow-control step of the pipeline, as configured by flags. */

import type { Lookup } from '../../api/model/lookup.ts'
import { vendorOf } from '../../api/model/vendor.ts'
import { FlowConfiguration } from '../../apiserver/flowcontrol/configuration.ts'
import { FlowControl } from '../../apiserver/flowcontrol/flow-control.ts'
import type { FlowMetrics } from '../../apiserver/flowcontrol/flow-metrics.ts'
import { InFlight } from '../../apiserver/flowcontrol/in-flight.ts'
import type { Step } from '../../apiserver/http/pipeline.ts'
import { limitInFlight, shareFairly } from '../../apiserver/http/steps/limit-requests.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import { countWorkers, type WorkerContext } from '../threads/worker-context.ts'

interface FlowControlParts {
  readonly catalogue: Catalogue
  readonly lookup: Lookup
  readonly metrics: FlowMetrics
  readonly worker: WorkerContext | undefined
}

/** Creates the flow-control step. Must be called before the caches are loaded, so that it sees all objects. */
export function openFlowControl(
  options: EmulatedOptions,
  { catalogue, lookup, metrics, worker }: FlowControlParts,
): Step {
  const workers = countWorkers(worker)
  const { priorityAndFairness, profile, requestTimeout } = options
  const limits = {
    get readOnly() {
      return shareOf(options.maxRequests, workers())
    },
    get mutating() {
      return shareOf(options.maxMutatingRequests, workers())
    },
  }
  if (!priorityAndFairness) return limitInFlight(new InFlight(limits, metrics.dropped))
  const seats = () => limits.readOnly + limits.mutating
  if (seats() === 0)
    throw new UsageError(
      'priority and fairness has no seats: set --max-requests-inflight or --max-mutating-requests-inflight to a value above 0, or set --enable-priority-and-fairness=false',
    )
  const configuration = new FlowConfiguration(lookup, {
    seats,
    version: options.emulatedVersion,
    metrics,
    clock: systemClock,
  })
  return shareFairly(new FlowControl(configuration, systemClock, requestTimeout / 4), catalogue, vendorOf(profile))
}

/** Returns each worker's equal share of a server-wide limit. Returns 0, which means no limit, unchanged. */
function shareOf(limit: number, workers: number): number {
  return Math.ceil(limit / workers)
}
