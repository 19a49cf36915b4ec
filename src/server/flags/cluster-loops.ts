/** Flags of the control loops for Services, pods and nodes, shared by `orch up` and `orch controller-manager`. */

import { type IpRange, parsePlainRange } from '../../api/model/ip-range.ts'
import { flag, type OptionsOf, readBoolean, UsageError } from '../../base/flags/flags.ts'
import type { LoopOptions } from '../../cluster/controllers/control-loop.ts'
import type { PodRanges } from '../../cluster/controllers/nodes/node-ipam.ts'
import { list, readCount, readTime } from './values.ts'

export const clusterLoopFlags = {
  endpointUpdatesBatchPeriod: flag({
    name: 'endpoint-updates-batch-period',
    value: 'TIME',
    default: '0s',
    read: readTime,
    help: 'time to collect pod changes before Endpoints are updated; longer values reduce writes for Services with many pods',
  }),
  endpointSliceUpdatesBatchPeriod: flag({
    name: 'endpointslice-updates-batch-period',
    value: 'TIME',
    default: '0s',
    read: readTime,
    help: 'time to collect pod changes before EndpointSlices are updated; longer values reduce writes for Services with many pods',
  }),
  maxEndpointsPerSlice: flag({
    name: 'max-endpoints-per-slice',
    value: 'N',
    default: '100',
    read: readSliceSize,
    help: 'maximum number of endpoints in an EndpointSlice, from 1 to 1000',
  }),
  mirroringUpdatesBatchPeriod: flag({
    name: 'mirroring-endpointslice-updates-batch-period',
    value: 'TIME',
    default: '0s',
    read: readTime,
    help: 'time to collect changes to user-managed Endpoints before the changes are mirrored to EndpointSlices',
  }),
  mirroringMaxEndpointsPerSubset: flag({
    name: 'mirroring-max-endpoints-per-subset',
    value: 'N',
    default: '1000',
    read: readSliceSize,
    help: 'maximum number of addresses per Endpoints subset to mirror to EndpointSlices, from 1 to 1000',
  }),
  terminatedPodGcThreshold: flag({
    name: 'terminated-pod-gc-threshold',
    value: 'N',
    default: '12500',
    read: readCount,
    help: 'maximum number of terminated pods to keep; when there are more, the oldest are deleted; 0 keeps all terminated pods',
  }),
  legacyTokenCleanUpPeriod: flag({
    name: 'legacy-service-account-token-clean-up-period',
    value: 'TIME',
    default: '8760h',
    read: readTime,
    help: 'time after which an unused service account token Secret is marked as invalid; after the same time again, the Secret is deleted',
  }),
  nodeMonitorGracePeriod: flag({
    name: 'node-monitor-grace-period',
    value: 'TIME',
    default: '40s',
    read: readTime,
    help: 'time after which a node without a heartbeat is considered unreachable',
  }),
  nodeStartupGracePeriod: flag({
    name: 'node-startup-grace-period',
    value: 'TIME',
    default: '1m0s',
    read: readTime,
    help: 'time after which a new node that has not reported its status is considered unreachable',
  }),
  nodeEvictionRate: flag({
    name: 'node-eviction-rate',
    value: 'N',
    default: '0.1',
    read: readDecimal,
    help: 'maximum number of unready nodes per second from which pods are evicted, applied to each zone separately',
  }),
  secondaryNodeEvictionRate: flag({
    name: 'secondary-node-eviction-rate',
    value: 'N',
    default: '0.01',
    read: readDecimal,
    help: 'maximum number of nodes per second from which pods are evicted in a large unhealthy zone; in a small unhealthy zone, evictions stop',
  }),
  unhealthyZoneThreshold: flag({
    name: 'unhealthy-zone-threshold',
    value: 'N',
    default: '0.55',
    read: readDecimal,
    help: 'minimum fraction of unready nodes for a zone to count as unhealthy; at least 3 nodes must be unready',
  }),
  largeClusterSizeThreshold: flag({
    name: 'large-cluster-size-threshold',
    value: 'N',
    default: '50',
    read: readCount,
    help: 'number of nodes above which a zone counts as large',
  }),
  autoscalerSyncPeriod: flag({
    name: 'horizontal-pod-autoscaler-sync-period',
    value: 'TIME',
    default: '15s',
    read: readTime,
    help: 'time between two evaluations of a HorizontalPodAutoscaler',
  }),
  autoscalerDownscaleStabilization: flag({
    name: 'horizontal-pod-autoscaler-downscale-stabilization',
    value: 'TIME',
    default: '5m0s',
    read: readTime,
    help: 'time window for scaling down: the autoscaler uses the highest recommendation in this window',
  }),
  autoscalerTolerance: flag({
    name: 'horizontal-pod-autoscaler-tolerance',
    value: 'N',
    default: '0.1',
    read: readDecimal,
    help: 'maximum relative difference between a metric and its target at which the autoscaler does not scale',
  }),
  allocateNodeCidrs: flag({
    name: 'allocate-node-cidrs',
    default: 'false',
    read: readBoolean,
    help: 'assign every node a pod CIDR from --cluster-cidr',
  }),
  clusterCidr: flag({
    name: 'cluster-cidr',
    value: 'RANGES',
    read: readPodRanges,
    help: 'CIDR range for pod IPs; for dual stack, two ranges separated by a comma, one per IP family',
  }),
  nodeCidrMaskSize: flag({
    name: 'node-cidr-mask-size',
    value: 'BITS',
    default: '0',
    read: readCount,
    help: 'prefix length of node CIDRs if --cluster-cidr has a single range; 0 means the default for its IP family, 24 or 64',
  }),
  nodeCidrMaskSizeIpv4: flag({
    name: 'node-cidr-mask-size-ipv4',
    value: 'BITS',
    default: '24',
    read: readCount,
    help: "prefix length of a node's IPv4 CIDR",
  }),
  nodeCidrMaskSizeIpv6: flag({
    name: 'node-cidr-mask-size-ipv6',
    value: 'BITS',
    default: '64',
    read: readCount,
    help: "prefix length of a node's IPv6 CIDR",
  }),
}

type ClusterOptions = OptionsOf<typeof clusterLoopFlags> & { readonly serviceClusterIpRange: readonly IpRange[] }

/** Returns the pod CIDR settings. Throws UsageError if the node CIDRs would not fit into the cluster CIDRs. */
export function podRangesOf(options: ClusterOptions): PodRanges | undefined {
  const { allocateNodeCidrs, clusterCidr: ranges, nodeCidrMaskSize: bits, serviceClusterIpRange: services } = options
  if (!allocateNodeCidrs) return undefined
  if (ranges.length === 0) throw new UsageError('--allocate-node-cidrs requires --cluster-cidr')
  if (bits > 0 && ranges.length > 1)
    throw new UsageError(
      '--node-cidr-mask-size: with two ranges, use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6',
    )
  const ipv4Bits = bits || options.nodeCidrMaskSizeIpv4
  const ipv6Bits = bits || options.nodeCidrMaskSizeIpv6
  for (const range of ranges) checkBits(range, range.family === 'IPv4' ? ipv4Bits : ipv6Bits)
  return { ranges, ipv4Bits, ipv6Bits, services }
}

/** Checks the size of node CIDRs. A cluster can have at most 65,536 node CIDRs. */
function checkBits({ family, size, text }: IpRange, bits: number): void {
  const width = family === 'IPv4' ? 32 : 128
  const own = width - size.toString(2).length + 1
  if (bits < own || bits > width || bits - own > 16)
    throw new UsageError(
      `--node-cidr-mask-size: /${bits} is not valid for ${text}: use /${own} to /${Math.min(width, own + 16)}`,
    )
}

/** Converts the values of the cluster loop flags to control loop options. */
export function clusterLoopOptions(options: ClusterOptions): Partial<LoopOptions> {
  const podRanges = podRangesOf(options)
  return {
    ...(podRanges === undefined ? {} : { podRanges }),
    autoscaling: {
      periodMs: options.autoscalerSyncPeriod,
      downscaleWindowMs: options.autoscalerDownscaleStabilization,
      tolerance: options.autoscalerTolerance,
    },
    maxEndedPods: options.terminatedPodGcThreshold,
    unusedTokenMs: options.legacyTokenCleanUpPeriod,
    nodeHealth: {
      graceMs: options.nodeMonitorGracePeriod,
      startupGraceMs: options.nodeStartupGracePeriod,
      rate: options.nodeEvictionRate,
      secondaryRate: options.secondaryNodeEvictionRate,
      unhealthyShare: options.unhealthyZoneThreshold,
      largeSize: options.largeClusterSizeThreshold,
    },
    endpointBatchMs: options.endpointUpdatesBatchPeriod,
    sliceBatchMs: options.endpointSliceUpdatesBatchPeriod,
    maxEndpointsPerSlice: options.maxEndpointsPerSlice,
    mirroringBatchMs: options.mirroringUpdatesBatchPeriod,
    maxMirrored: options.mirroringMaxEndpointsPerSubset,
  }
}

function readPodRanges(value: string): IpRange[] {
  const ranges = list(value).map((text) => {
    const range = parsePlainRange(text)
    if (range === undefined)
      throw new UsageError(`${JSON.stringify(text)} is not a CIDR range: use a range such as 10.244.0.0/16`)
    return range
  })
  if (ranges.length > 2 || (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family))
    throw new UsageError('specify at most two ranges, one per IP family')
  return ranges
}

function readDecimal(value: string): number {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(value))
    throw new UsageError(`${JSON.stringify(value)} is not a valid number: use a number such as 0.1`)
  return Number(value)
}

function readSliceSize(value: string): number {
  const size = readCount(value)
  if (size < 1 || size > 1000) throw new UsageError(`${JSON.stringify(value)} is not a number from 1 to 1000`)
  return size
}
