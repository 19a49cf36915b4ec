/**
 * Implements the retention policy for the claims of a StatefulSet. The garbage collector deletes a claim together with
 * its owner, which is the set (`whenDeleted: Delete`) or a pod that a scale-down removes (`whenScaled: Delete`). A
 * claim without such an owner is retained. A claim that another controller owns is left unchanged.
 */
import type { StatefulSet } from '../../../../api/kinds/apps/stateful-set.ts'
import type { PersistentVolumeClaim } from '../../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { ObjectBase, OwnerReference } from '../../../../api/model/object.ts'
import { isAtLeast } from '../../../../api/versions/emulated-version.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Draft } from '../../../../client/requests/resource-type.ts'
import { controllerOf, controllerReference } from '../ownership.ts'
import { claimsOf } from './identity.ts'
import type { SetStep, StatefulSetParts } from './parts.ts'

interface Member {
  readonly pod: Pod
  readonly ordinal: number
  /** Whether the pod's ordinal is outside the desired range. Such a pod will be deleted. */
  readonly isSurplus: boolean
}

/** Sets the owners of a pod's claims as the policy requires. Without a policy, claims are left unchanged. */
export async function retainClaims(step: SetStep, { pod, ordinal, isSurplus }: Member): Promise<void> {
  const { parts, set, signal } = step
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  if (whenDeleted === undefined && whenScaled === undefined) return
  const isOfPod = isSurplus && whenScaled === 'Delete'
  const owner = isOfPod ? pod : whenDeleted === 'Delete' ? set : undefined
  for (const { metadata } of claimsOf(set, ordinal)) {
    const claim = parts.claims.get({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' })
    const owned = claim && withOwner(step, claim, { owner, members: [set, pod] })
    if (owned !== undefined) await parts.client.update(kinds.PersistentVolumeClaim, owned, { signal })
  }
}

/** Returns the new claim with the owner that the policy requires while the claim's pod is running. */
export function withSetAsOwner(
  { set, parts }: SetStep,
  claim: Draft<PersistentVolumeClaim>,
): Draft<PersistentVolumeClaim> {
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted !== 'Delete') return claim
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: [referenceTo(parts, set, 'StatefulSet')] } }
}

/** Whether the garbage collector will delete the claim together with an earlier pod of the same name. */
export function isOfEarlierPod(
  { pods }: StatefulSetParts,
  { metadata: { namespace = '' } }: StatefulSet,
  { claim, pod }: { readonly claim: PersistentVolumeClaim; readonly pod: string },
): boolean {
  const owner = claim.metadata.ownerReferences?.find(({ kind, name }) => kind === 'Pod' && name === pod)
  return owner !== undefined && pods.get({ namespace, name: pod })?.metadata.uid !== owner.uid
}

interface Owners {
  readonly owner: ObjectBase | undefined
  /** The owners that the policy may set or remove: the StatefulSet and its pod. */
  readonly members: readonly [set: StatefulSet, pod: Pod]
}

/** Returns the changed claim, or undefined if its owners are correct or another controller owns the claim. */
function withOwner(
  { parts }: SetStep,
  claim: PersistentVolumeClaim,
  { owner, members: [set, pod] }: Owners,
): PersistentVolumeClaim | undefined {
  const { ownerReferences = [] } = claim.metadata
  const uids = new Set([set.metadata.uid, pod.metadata.uid])
  const controller = controllerOf(claim)
  if (controller !== undefined && !uids.has(controller.uid)) return undefined
  const present = ownerReferences.filter(({ uid }) => uids.has(uid)).map(({ uid }) => uid)
  const desiredOwners = owner === undefined ? [] : [owner.metadata.uid]
  if (present.length === desiredOwners.length && present.every((uid) => desiredOwners.includes(uid))) return undefined
  const others = ownerReferences.filter(({ uid }) => !uids.has(uid))
  const own = owner === undefined ? [] : [referenceTo(parts, owner, owner === set ? 'StatefulSet' : 'Pod')]
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: [...others, ...own] } }
}

/** Returns the reference to an owner of a claim. Since Kubernetes 1.31, the owner is a controller. */
function referenceTo(
  { emulation: { version } }: StatefulSetParts,
  { metadata }: ObjectBase,
  kind: 'StatefulSet' | 'Pod',
): OwnerReference {
  const apiVersion = kind === 'Pod' ? 'v1' : 'apps/v1'
  if (isAtLeast(version, '1.31')) return controllerReference({ apiVersion, kind, metadata })
  return { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '' }
}
