/** Starts the loops that maintain the server's own objects. */
import { type Emulation, isAvailable } from '../../api/versions/availability.ts'
import type { OwnWrites } from '../../apiserver/admission/own-writes.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { apiServiceLoop } from '../../apiserver/upkeep/api-services.ts'
import { defaultLimitsLoop } from '../../apiserver/upkeep/default-limits.ts'
import { defaultPolicyLoop } from '../../apiserver/upkeep/default-policy.ts'
import { defaultServiceCidrLoop } from '../../apiserver/upkeep/default-service-cidr.ts'
import { defaultStorageClassLoop } from '../../apiserver/upkeep/default-storage-class.ts'
import { flowControlObjectsLoop } from '../../apiserver/upkeep/flow-control-objects.ts'
import { flowSchemaLoop } from '../../apiserver/upkeep/flow-schemas.ts'
import { identityLeaseLoop } from '../../apiserver/upkeep/identity-lease.ts'
import { legacyTokenTracking, legacyTokenTrackingLoop } from '../../apiserver/upkeep/legacy-token-tracking.ts'
import { ownServiceLoop } from '../../apiserver/upkeep/own-service.ts'
import { quotaRefundsLoop } from '../../apiserver/upkeep/quota-refunds.ts'
import { reservationsLoop } from '../../apiserver/upkeep/reservations.ts'
import { systemObjectsLoop } from '../../apiserver/upkeep/system-objects.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Loop, type LoopRecords, startLoops } from '../../client/reconcile/loop.ts'
import type { Store } from '../../storage/store/store.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import { ownAddress } from '../flags/service-pools.ts'

interface UpkeepParts {
  readonly log: Log
  readonly ownWrites: OwnWrites
  /** Emulated Kubernetes version and enabled feature gates. */
  readonly emulation: Emulation
  readonly defaultLimits: boolean
  /** Whether to create a default StorageClass. */
  readonly defaultStorageClass: boolean
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

/**
 * Starts the loops. Resolves when all objects that requests depend on exist. The caches must be loaded before the call.
 */
export async function startUpkeep(
  catalogue: Catalogue,
  records: LoopRecords,
  { log, ownWrites, emulation, defaultLimits, defaultStorageClass, opened }: UpkeepParts,
): Promise<void> {
  const start = (loops: readonly (Loop | undefined)[]) => {
    const running = startLoops(
      loops.filter((loop) => loop !== undefined),
      records,
    )
    opened.defer(() => running.stop())
    return running.firstPass
  }
  await start([systemObjectsLoop(catalogue), flowControlObjectsLoop(catalogue, emulation.version)])
  await start([
    defaultPolicyLoop(catalogue, emulation),
    flowSchemaLoop(catalogue),
    apiServiceLoop(catalogue),
    isAvailable(legacyTokenTracking, emulation) ? legacyTokenTrackingLoop(catalogue) : undefined,
    defaultLimits ? defaultLimitsLoop(catalogue) : undefined,
    defaultStorageClass ? defaultStorageClassLoop(catalogue) : undefined,
  ])
  // Do not wait for the first pass of these loops, because requests do not depend on them.
  void start([reservationsLoop(catalogue, log), quotaRefundsLoop(ownWrites, log)])
}

interface OwnObjectDependencies {
  readonly catalogue: Catalogue
  readonly store: Store
  readonly loopRecords: LoopRecords
  /** Port on which this server listens. */
  readonly port: number
  readonly log: Log
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

/** Maintains the Service of the API servers and its Endpoints. Resolves after the first attempt to write them. */
export async function startOwnService(
  options: EmulatedOptions,
  { catalogue, store, loopRecords, port, log, opened }: OwnObjectDependencies,
): Promise<void> {
  const sharedStore = options.etcdServers.length > 0
  const parts = { catalogue, store, sharedStore, clusterIP: ownAddress(options), port, addresses: options }
  const ranges = options.serviceClusterIpRange.map(({ text }) => text)
  const cidrs = emulationFrom(options).gates.has('MultiCIDRServiceAllocator')
    ? [defaultServiceCidrLoop(catalogue, ranges, log)]
    : []
  const running = startLoops([ownServiceLoop(parts), ...cidrs], loopRecords)
  opened.defer(() => running.stop())
  // The server starts even if the write fails, because the loop logs the failure and retries.
  await running.firstPass.catch(() => {})
}

/**
 * Maintains the Lease that identifies this API server, if the feature gate is enabled. The server does not wait for the
 * Lease, because the loop logs failures and retries.
 */
export function startIdentityLease(
  options: EmulatedOptions,
  { catalogue, loopRecords, port, opened }: Omit<OwnObjectDependencies, 'store' | 'log'>,
): void {
  if (!emulationFrom(options).gates.has('APIServerIdentity')) return
  const parts = { bindAddress: options.bindAddress, port, clock: systemClock }
  const running = startLoops([identityLeaseLoop(catalogue, parts)], loopRecords)
  opened.defer(() => running.stop())
}
