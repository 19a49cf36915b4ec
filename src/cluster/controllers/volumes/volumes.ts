/** Reconciles a volume: marks it available or bound, or releases and reclaims it after its claim is deleted. */

import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import type { Binder } from './parts.ts'
import { setVolumeStatus } from './writes.ts'

export async function syncVolume(binder: Binder, volume: PersistentVolume, signal: AbortSignal): Promise<StepOutcome> {
  const { claimRef } = volume.spec ?? {}
  const setPhase = (phase: string) => setVolumeStatus(binder, volume, { status: { phase }, signal })
  // A reference without a UID reserves the volume for the claim with that name. The reconcile of the claim binds the
  // volume.
  if (claimRef === undefined || (claimRef.uid ?? '') === '') await setPhase('Available')
  else {
    const claim = await claimOf(binder, volume, signal)
    if (claim === undefined) await release(binder, volume, signal)
    else if (claim.spec?.volumeName === volume.metadata.name) await setPhase('Bound')
    else if ((claim.spec?.volumeName ?? '') !== '') await letGo(binder, volume, signal)
    // If the claim names no volume yet, it will soon name this one, and reconciling the claim completes the binding.
  }
  return 'done'
}

/**
 * Returns the claim that the volume references. Reads the claim from the server if the cache does not contain it,
 * because releasing a volume may delete data.
 */
async function claimOf(
  { claims: informer, client }: Binder,
  { spec }: PersistentVolume,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim | undefined> {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {}
  const cachedClaim = informer.get({ namespace, name })
  if (cachedClaim?.metadata.uid === uid) return cachedClaim
  const live = await ignoreNotFound(client.get(kinds.PersistentVolumeClaim, { namespace, name }, { signal }))
  return live?.metadata.uid === uid ? live : undefined
}

/** Releases the volume of a deleted claim and applies the reclaim policy. */
async function release(binder: Binder, volume: PersistentVolume, signal: AbortSignal): Promise<void> {
  const phase = volume.status?.phase
  if (phase !== 'Released' && phase !== 'Failed')
    return await setVolumeStatus(binder, volume, { status: { phase: 'Released' }, signal })
  if (phase === 'Failed') return
  const provisioner = volume.metadata.annotations?.[binder.keys.provisionedBy]
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Delete':
      // If a provisioner created the volume, that provisioner also deletes it.
      if (provisioner === undefined) await fail(binder, volume, { ...noDeleter(volume), signal })
      break
    case 'Recycle':
      await fail(binder, volume, { ...noRecycler, signal })
  }
}

function noDeleter({ metadata: { name } }: PersistentVolume) {
  const message = `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`
  return { reason: 'VolumeFailedDelete', message }
}

const noRecycler = { reason: 'VolumeFailedRecycle', message: 'no recyclable volume plugin matched' }

interface Failure {
  readonly reason: string
  readonly message: string
  readonly signal: AbortSignal
}

export async function fail(
  binder: Pick<Binder, 'client' | 'recorder'>,
  volume: PersistentVolume,
  { reason, message, signal }: Failure,
): Promise<void> {
  const status = { phase: 'Failed', message, reason }
  await binder.client.update(kinds.PersistentVolume, { ...volume, status }, { subresource: 'status', signal })
  binder.recorder.record(volume, { type: 'Warning', reason, message })
}

/**
 * Handles a volume whose claim is bound to another volume. Releases this volume if it was provisioned with the policy
 * Delete, and otherwise makes it available.
 */
async function letGo(binder: Binder, volume: PersistentVolume, signal: AbortSignal): Promise<void> {
  const { keys, client } = binder
  const { annotations = {} } = volume.metadata
  const isMade =
    annotations[keys.provisionedBy] !== undefined && volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
  if (isMade) return await release(binder, volume, signal)
  const { [keys.boundByController]: byController, ...others } = annotations
  const { claimRef, ...spec } = volume.spec ?? {}
  const { uid: _, resourceVersion: __, ...remainingRef } = claimRef ?? {}
  const next = { ...volume, metadata: { ...volume.metadata, annotations: others } }
  await client.update(
    kinds.PersistentVolume,
    { ...next, spec: byController === undefined ? { ...spec, claimRef: remainingRef } : spec },
    { signal },
  )
}
