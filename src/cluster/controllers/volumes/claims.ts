/** Reconciles a claim: binds it to a volume, waits for a volume, or marks the claim as lost. */

import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Happening } from '../../../client/informers/event-recorder.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { hostPathProvisionerName } from '../../volumes/annotations.ts'
import { bestMatch, classOf, isFor, mismatch } from '../../volumes/matching.ts'
import { claimNames, isUnscheduled } from '../../volumes/pod-claims.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import type { Binder } from './parts.ts'
import { bind, setClaimStatus, writeClaim } from './writes.ts'

export async function syncClaim(
  binder: Binder,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const isCompleted = claim.metadata.annotations?.[binder.keys.bindCompleted] !== undefined
  if (!isCompleted && (claim.spec?.volumeName ?? '') === '') return await findVolume(binder, claim, signal)
  binder.unboundSince.forget(claim.metadata.uid ?? '')
  if (isCompleted) await syncBound(binder, claim, signal)
  else await takeNamed(binder, claim, signal)
  return 'done'
}

/** Checks that the volume of a bound claim still exists and references the claim. */
async function syncBound(binder: Binder, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
  const { volumeName = '' } = claim.spec ?? {}
  if (volumeName === '')
    return await lose(binder, claim, {
      reason: 'ClaimLost',
      message: 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
      signal,
    })
  // The cache may be stale, for example after a restore of the store, so a volume that is missing from it is read from
  // the server.
  const cachedVolume = binder.volumes.get({ name: volumeName })
  const volume =
    cachedVolume ?? (await ignoreNotFound(binder.client.get(kinds.PersistentVolume, { name: volumeName }, { signal })))
  if (volume === undefined)
    return await lose(binder, claim, {
      reason: 'ClaimLost',
      message: 'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      signal,
    })
  if (volume.spec?.claimRef === undefined || isFor(volume, claim)) return await bind(binder, { volume, claim, signal })
  await lose(binder, claim, {
    reason: 'ClaimMisbound',
    message: 'Two claims are bound to the same volume, this one is bound incorrectly',
    signal,
  })
}

interface Loss {
  readonly reason: string
  readonly message: string
  readonly signal: AbortSignal
}

async function lose(binder: Binder, claim: PersistentVolumeClaim, { reason, message, signal }: Loss): Promise<void> {
  if (claim.status?.phase === 'Lost') return
  await setClaimStatus(binder, claim, { status: { phase: 'Lost' }, signal })
  binder.recorder.record(claim, { type: 'Warning', reason, message })
}

/** Binds the claim to the volume that it names. */
async function takeNamed(binder: Binder, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
  const { recorder, keys } = binder
  const volume = binder.volumes.get({ name: claim.spec!.volumeName! })
  if (volume === undefined) return await pend(binder, claim, signal)
  if (volume.spec?.claimRef !== undefined && !isFor(volume, claim)) {
    const message = `volume "${volume.metadata.name}" already bound to a different claim.`
    recorder.record(claim, { type: 'Warning', reason: 'FailedBinding', message })
    return await pend(binder, claim, signal)
  }
  const why = volume.spec?.claimRef === undefined ? mismatch(volume, claim, keys) : undefined
  if (why === undefined) return await bind(binder, { volume, claim, signal })
  const message = `Cannot bind to requested volume "${volume.metadata.name}": ${why}`
  recorder.record(claim, { type: 'Warning', reason: 'VolumeMismatch', message })
  await pend(binder, claim, signal)
}

async function findVolume(binder: Binder, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<StepOutcome> {
  const { keys } = binder
  const className = classOf(claim, keys)
  const storageClass = binder.classes.get({ name: className })
  const selected = claim.metadata.annotations?.[keys.selectedNode]
  const isDelayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && selected === undefined
  const node = selected && (await ignoreNotFound(binder.client.get(kinds.Node, { name: selected }, { signal })))
  const volume = bestMatch(binder.volumes.objects(), { claim, keys, node: node || undefined, isDelayed })
  if (volume !== undefined) {
    await bind(binder, { volume, claim, signal })
    return 'done'
  }
  const isGoing = claim.metadata.deletionTimestamp !== undefined
  const why = isGoing || isDelayed ? undefined : whyUnbound(binder, className)
  const waitMs = why === undefined ? 0 : binder.unboundSince.waitMs(claim.metadata.uid ?? '')
  const isQuiet = isGoing || waitMs > 0
  await pend(binder, isQuiet ? claim : await askForVolume(binder, claim, { className, isDelayed, signal }), signal)
  return waitMs > 0 ? { afterMs: waitMs } : 'done'
}

/**
 * Reports why no volume matches the claim, and records which provisioner should create a volume. Returns the updated
 * claim.
 */
async function askForVolume(
  binder: Binder,
  claim: PersistentVolumeClaim,
  { className, isDelayed, signal }: { className: string; isDelayed: boolean; signal: AbortSignal },
): Promise<PersistentVolumeClaim> {
  const { recorder, vendor } = binder
  const storageClass = binder.classes.get({ name: className })
  const why = isDelayed ? whatForFirst(binder, claim) : whyUnbound(binder, className)
  if (why !== undefined || storageClass === undefined) {
    if (why !== undefined) recorder.record(claim, why)
    return claim
  }
  const { provisioner = '' } = storageClass
  if (provisioner !== hostPathProvisionerName(vendor)) {
    const message = `waiting for a volume to be created, either by external provisioner "${provisioner}" or manually created by system administrator`
    recorder.record(claim, { type: 'Normal', reason: 'ExternalProvisioning', message })
  }
  return await nameProvisioner(binder, claim, { provisioner, signal })
}

/**
 * Returns the reason why a claim with delayed binding is waiting: either no Pod uses the claim yet, or the first Pod is
 * not scheduled.
 */
function whatForFirst({ pods }: Binder, { metadata: { namespace, name = '' } }: PersistentVolumeClaim): Happening {
  const uses = (pod: Pod) =>
    pod.metadata.namespace === namespace && isUnscheduled(pod) && claimNames(pod).includes(name)
  const waiting = [...pods.objects()].filter(uses).map((pod) => pod.metadata.name!)
  if (waiting.length === 0) {
    const message = 'waiting for first consumer to be created before binding'
    return { type: 'Normal', reason: 'WaitForFirstConsumer', message }
  }
  const message = `waiting for ${waiting.length > 1 ? 'pods' : 'pod'} ${waiting.sort().join(',')} to be scheduled`
  return { type: 'Normal', reason: 'WaitForPodScheduled', message }
}

/** Returns the reason why no provisioner can create a volume, or undefined if a provisioner can create one. */
function whyUnbound({ classes }: Binder, className: string): Happening | undefined {
  if (className === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set'
    return { type: 'Normal', reason: 'FailedBinding', message }
  }
  if (classes.get({ name: className }) !== undefined) return undefined
  const message = `storageclass.${classes.type.group} "${className}" not found`
  return { type: 'Warning', reason: 'ProvisioningFailed', message }
}

async function nameProvisioner(
  binder: Binder,
  claim: PersistentVolumeClaim,
  { provisioner, signal }: { provisioner: string; signal: AbortSignal },
): Promise<PersistentVolumeClaim> {
  const { keys } = binder
  const { annotations = {} } = claim.metadata
  if (annotations[keys.provisioner] === provisioner && annotations[keys.betaProvisioner] === provisioner) return claim
  const marks = { [keys.provisioner]: provisioner, [keys.betaProvisioner]: provisioner }
  const metadata = { ...claim.metadata, annotations: { ...annotations, ...marks } }
  return await writeClaim(binder, { ...claim, metadata }, signal)
}

async function pend(binder: Binder, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
  if (claim.status?.phase !== 'Pending') await setClaimStatus(binder, claim, { status: { phase: 'Pending' }, signal })
}
