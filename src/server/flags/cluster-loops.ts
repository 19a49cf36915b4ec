/** Flags of the control loops of Services, Jobs and nodes: the same for `orch up` and `orch controller-manager`. */
import { flag, type OptionsOf, UsageError } from '../../base/flags.ts'
import type { LoopOptions } from '../../controllers/control-loop.ts'
import { readCount, readTime } from './values.ts'

export const clusterLoopFlags = {
  endpointUpdatesBatchPeriod: flag(
    'endpoint-updates-batch-period',
    'TIME',
    '0s',
    readTime,
    'time for which changes of pods are gathered before Endpoints follow; longer for Services of many pods',
  ),
  endpointSliceUpdatesBatchPeriod: flag(
    'endpointslice-updates-batch-period',
    'TIME',
    '0s',
    readTime,
    'time for which changes of pods are gathered before EndpointSlices follow; longer for Services of many pods',
  ),
  maxEndpointsPerSlice: flag(
    'max-endpoints-per-slice',
    'N',
    '100',
    readSliceSize,
    'number of endpoints that an EndpointSlice has at most',
  ),
}

/** What these flags say, as the loops take it. */
export function clusterLoopOptions(options: OptionsOf<typeof clusterLoopFlags>): Partial<LoopOptions> {
  return {
    endpointBatchMs: options.endpointUpdatesBatchPeriod,
    sliceBatchMs: options.endpointSliceUpdatesBatchPeriod,
    maxEndpointsPerSlice: options.maxEndpointsPerSlice,
  }
}

function readSliceSize(value: string): number {
  const size = readCount(value)
  if (size < 1 || size > 1000) throw new UsageError(`${JSON.stringify(value)} is not a number from 1 to 1000`)
  return size
}
