/** Creates the flow-control step of the pipeline from the flags. */

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
import type { Clock } from '../../base/time/clock.ts'
import type { EmulatedOptions } from '../flags/options.ts'

interface FlowControlParts {
  readonly catalogue: Catalogue
  readonly lookup: Lookup
  readonly clock: Clock
  readonly metrics: FlowMetrics
}

/** Call this before the caches are loaded. */
export function openFlowControl(
  options: EmulatedOptions,
  { catalogue, lookup, clock, metrics }: FlowControlParts,
): Step {
  const { priorityAndFairness, profile, requestTimeout } = options
  const limits = {
    readOnly: shareOf(options.maxRequests, options),
    mutating: shareOf(options.maxMutatingRequests, options),
  }
  if (!priorityAndFairness) return limitInFlight(new InFlight(limits, metrics.dropped))
  const seats = limits.readOnly + limits.mutating
  if (seats === 0)
    throw new UsageError(
      'priority and fairness has no seats: set --max-requests-inflight or --max-mutating-requests-inflight above 0, or --enable-priority-and-fairness=false',
    )
  const configuration = new FlowConfiguration(lookup, { seats, version: options.emulatedVersion, metrics })
  return shareFairly(new FlowControl(configuration, clock, requestTimeout / 4), catalogue, vendorOf(profile))
}

/** Returns one worker's equal share of a server-wide limit. 0 means no limit and stays 0. */
function shareOf(limit: number, { workers }: EmulatedOptions): number {
  return Math.ceil(limit / workers)
}
