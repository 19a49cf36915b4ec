/**
 * Expands volumes whose claims request more than their capacity. Only the volumes of the built-in provisioner can be
 * expanded, because they are directories whose size only the disk limits. For other volumes, an Event reports that an
 * external controller must expand them.
 *
 * The loop updates the volume first, then the claim's status. The next reconcile completes an interrupted expansion.
 */

import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import { timestamp } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { bindingKeys, hostPathProvisionerName } from '../../volumes/annotations.ts'
import { compareSizes, isFor } from '../../volumes/matching.ts'

export interface ExpanderParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly vendor: Vendor
  readonly claims: Informer<PersistentVolumeClaim>
  readonly volumes: Informer<PersistentVolume>
}

export function volumeExpanderLoop(parts: ExpanderParts): Loop {
  return {
    name: 'persistentvolume-expander',
    sources: [fromInformer(parts.claims), fromInformer(parts.volumes, claimsOf)],
    reconcile: async (key, signal) => {
      const claim = parts.claims.get(nameOfKey(key))
      try {
        return claim === undefined ? 'done' : await reconcile(parts, claim, signal)
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return 'later'
        throw error
      }
    },
  }
}

function claimsOf({ object }: ObjectChange<PersistentVolume>): string[] {
  const { claimRef } = object?.spec ?? {}
  return claimRef === undefined ? [] : [`${claimRef.namespace}/${claimRef.name}`]
}

async function reconcile(
  parts: ExpanderParts,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { client, recorder, vendor } = parts
  const requestedStorage = claim.spec?.resources?.requests?.storage
  if (claim.status?.phase !== 'Bound' || claim.metadata.deletionTimestamp !== undefined) return 'done'
  if (requestedStorage === undefined || compareSizes(requestedStorage, claim.status.capacity?.storage) <= 0)
    return 'done'
  const volume = parts.volumes.get({ name: claim.spec?.volumeName ?? '' })
  if (volume === undefined || !isFor(volume, claim)) return 'done'
  if (volume.metadata.annotations?.[bindingKeys(vendor).provisionedBy] !== hostPathProvisionerName(vendor)) {
    const message =
      "Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC."
    recorder.record(claim, { type: 'Normal', reason: 'ExternalExpanding', message })
    return 'done'
  }
  const marked = await markResizing(parts, claim, signal)
  if (compareSizes(volume.spec?.capacity?.storage, requestedStorage) < 0) {
    const { resourceVersion } = volume.metadata
    const patch = { merge: { metadata: { resourceVersion }, spec: { capacity: { storage: requestedStorage } } } }
    await client.patch(kinds.PersistentVolume, { name: volume.metadata.name! }, { patch, signal })
  }
  const conditions = (marked.status?.conditions ?? []).filter(({ type }) => type !== 'Resizing')
  await patchStatus(parts, marked, { status: { capacity: { storage: requestedStorage }, conditions }, signal })
  const message = `The volume ${volume.metadata.name} now has a capacity of ${requestedStorage}`
  recorder.record(claim, { type: 'Normal', reason: 'VolumeResizeSuccessful', message })
  return 'done'
}

async function markResizing(
  parts: ExpanderParts,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const { conditions = [] } = claim.status ?? {}
  if (conditions.some(({ type, status }) => type === 'Resizing' && status === 'True')) return claim
  const others = conditions.filter(({ type }) => type !== 'Resizing')
  const resizing = { type: 'Resizing', status: 'True', lastTransitionTime: timestamp(parts.clock.now()) }
  return await patchStatus(parts, claim, { status: { conditions: [...others, resizing] }, signal })
}

async function patchStatus(
  { client }: ExpanderParts,
  { metadata }: PersistentVolumeClaim,
  { status, signal }: { status: NonNullable<PersistentVolumeClaim['status']>; signal: AbortSignal },
): Promise<PersistentVolumeClaim> {
  const { namespace, name, resourceVersion } = metadata
  const patch = { merge: { metadata: { resourceVersion }, status } }
  return await client.patch(
    kinds.PersistentVolumeClaim,
    { namespace: namespace!, name: name! },
    { patch, subresource: 'status', signal },
  )
}
