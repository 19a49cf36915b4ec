/**
 * Performs the writes that bind a claim to a volume. Each write is a separate request, which is sent only if it changes
 * the object.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Binder } from './parts.ts'

export interface Pair {
  readonly volume: PersistentVolume
  readonly claim: PersistentVolumeClaim
  readonly signal: AbortSignal
}

/**
 * Writes the volume first, because its claimRef determines which claim gets the volume. Then writes the phase of the
 * volume, the claim and the status of the claim.
 */
export async function bind(binder: Binder, { volume, claim, signal }: Pair): Promise<void> {
  const reservedVolume = await holdVolume(binder, { volume, claim, signal })
  await setVolumeStatus(binder, reservedVolume, { status: { phase: 'Bound' }, signal })
  const boundClaim = await nameVolume(binder, { volume: reservedVolume, claim, signal })
  const { accessModes = [], capacity = {} } = reservedVolume.spec ?? {}
  // During an expansion, the status keeps the capacity from before the expansion.
  const grown = claim.status?.phase === 'Bound' ? claim.status.capacity : undefined
  const status = { phase: 'Bound', accessModes, capacity: grown ?? capacity }
  await setClaimStatus(binder, boundClaim, { status, signal })
}

async function holdVolume({ client, keys }: Binder, { volume, claim, signal }: Pair): Promise<PersistentVolume> {
  const { claimRef } = volume.spec ?? {}
  if (claimRef?.uid !== undefined && claimRef.uid === claim.metadata.uid) return volume
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const reference = {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace: namespace!,
    name: name!,
    uid: uid!,
    resourceVersion: resourceVersion!,
  }
  const annotations = {
    ...volume.metadata.annotations,
    ...(claimRef === undefined ? { [keys.boundByController]: 'yes' } : {}),
  }
  const next = {
    ...volume,
    metadata: { ...volume.metadata, annotations },
    spec: { ...volume.spec, claimRef: reference },
  }
  return await client.update(kinds.PersistentVolume, next, { signal })
}

async function nameVolume(binder: Binder, { volume, claim, signal }: Pair): Promise<PersistentVolumeClaim> {
  const { keys } = binder
  const { annotations = {} } = claim.metadata
  const isNamed = (claim.spec?.volumeName ?? '') !== ''
  if (isNamed && annotations[keys.bindCompleted] !== undefined) return claim
  const marks = { ...(isNamed ? {} : { [keys.boundByController]: 'yes' }), [keys.bindCompleted]: 'yes' }
  const metadata = { ...claim.metadata, annotations: { ...annotations, ...marks } }
  return await writeClaim(
    binder,
    { ...claim, metadata, spec: { ...claim.spec, volumeName: volume.metadata.name! } },
    signal,
  )
}

export async function writeClaim(
  { client }: Binder,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  return await client.update(kinds.PersistentVolumeClaim, claim, { signal })
}

export async function setClaimStatus(
  { client }: Binder,
  claim: PersistentVolumeClaim,
  { status, signal }: { status: NonNullable<PersistentVolumeClaim['status']>; signal: AbortSignal },
): Promise<void> {
  const next = { ...claim.status, ...status }
  if (status.phase !== 'Bound') {
    delete next.accessModes
    delete next.capacity
  }
  if (sameJson(next as Json, (claim.status ?? {}) as Json)) return
  await client.update(kinds.PersistentVolumeClaim, { ...claim, status: next }, { subresource: 'status', signal })
}

export async function setVolumeStatus(
  { client }: Binder,
  volume: PersistentVolume,
  { status, signal }: { status: NonNullable<PersistentVolume['status']>; signal: AbortSignal },
): Promise<void> {
  if (sameJson(status as Json, (volume.status ?? {}) as Json)) return
  await client.update(kinds.PersistentVolume, { ...volume, status }, { subresource: 'status', signal })
}
