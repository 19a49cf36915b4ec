/**
 * Releases ResourceClaims: removes the reservations of pods that have ended or no longer exist, deallocates unused
 * claims, and deletes claims that were generated for pods that have ended.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { changeObject } from '../../../client/informers/change-object.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, nameOfKey } from '../../../client/requests/resource-type.ts'
import { withoutConsumers } from '../../scheduler/devices/binding-conditions.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { hasEnded } from '../workloads/pod-state.ts'
import { claimFinalizer, generatedClaims, owningPod } from './pod-claims.ts'

export interface ClaimReleaseParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly pods: Informer<Pod>
  readonly claims: Informer<ResourceClaim>
}

type Consumer = NonNullable<NonNullable<ResourceClaim['status']>['reservedFor']>[number]

export function claimReleaseLoop(parts: ClaimReleaseParts): Loop {
  return {
    name: 'resourceclaim-release',
    sources: [fromInformer(parts.claims), fromInformer(parts.pods, claimsOfEndedPod)],
    reconcile: async (key, signal) => {
      const claim = parts.claims.get(nameOfKey(key))
      return claim === undefined ? 'done' : await reconcile(parts, claim, signal)
    },
  }
}

/** Returns the keys of the claims of a finished or deleted pod. */
function claimsOfEndedPod({ object, previous }: ObjectChange<Pod>): string[] {
  const pod = (object ?? previous)!
  if (object !== undefined && !hasEnded(object)) return []
  const named = (pod.spec?.resourceClaims ?? []).flatMap(({ resourceClaimName }) => resourceClaimName ?? [])
  return [...named, ...generatedClaims(pod)].map((name) => `${pod.metadata.namespace}/${name}`)
}

async function reconcile(parts: ClaimReleaseParts, claim: ResourceClaim, signal: AbortSignal): Promise<StepOutcome> {
  const { reservedFor = [], allocation } = claim.status ?? {}
  const ended = new Set<string | undefined>()
  for (const consumer of reservedFor) if (!(await isUsing(parts, claim, { consumer, signal }))) ended.add(consumer.uid)
  const isUnused = ended.size === reservedFor.length
  const isTerminating = claim.metadata.deletionTimestamp !== undefined
  if (ended.size > 0 || (isUnused && isTerminating && allocation !== undefined))
    await release(parts, claim, { ended, signal })
  if (!isUnused) return 'done'
  if (ended.size > 0 || isTerminating) await unprotect(parts, claim, signal)
  if (!isTerminating && isLeftOver(parts, claim)) {
    const preconditions = { uid: claim.metadata.uid ?? '' }
    await ignoreNotFound(parts.client.delete(parts.claims.type, nameOf(claim), { preconditions, signal }))
  }
  return 'done'
}

/**
 * Whether the consumer may still use the claim. If the pod is not in the cache, reads it from the server, because a
 * scheduler may have reserved the claim for a new pod.
 */
async function isUsing(
  { client, pods }: ClaimReleaseParts,
  { metadata: { namespace = '' } }: ResourceClaim,
  { consumer: { apiGroup = '', resource, name = '', uid }, signal }: { consumer: Consumer; signal: AbortSignal },
): Promise<boolean> {
  // If an object of another type reserves a claim, the client that added this reservation must also remove it.
  if (apiGroup !== '' || resource !== 'pods') return true
  const cached = pods.get({ namespace, name })
  const pod =
    cached?.metadata.uid === uid ? cached : await ignoreNotFound(client.get(pods.type, { namespace, name }, { signal }))
  return pod !== undefined && pod.metadata.uid === uid && !hasEnded(pod)
}

/** Removes the reservations with these UIDs. Removes the allocation too if no reservation remains. */
async function release(
  { client, claims }: ClaimReleaseParts,
  claim: ResourceClaim,
  { ended, signal }: { ended: ReadonlySet<string | undefined>; signal: AbortSignal },
): Promise<void> {
  const change = (object: ResourceClaim): ResourceClaim | undefined => {
    if (object.metadata.uid !== claim.metadata.uid) return undefined
    return { ...object, status: withoutConsumers(object.status ?? {}, ended) }
  }
  await ignoreNotFound(
    changeObject(client, claims.type, { name: nameOf(claim), subresource: 'status', change, signal }),
  )
}

/** Removes the finalizer, unless the claim was allocated again. */
async function unprotect({ client, claims, vendor }: ClaimReleaseParts, claim: ResourceClaim, signal: AbortSignal) {
  const finalizer = claimFinalizer(vendor)
  const change = (object: ResourceClaim): ResourceClaim | undefined => {
    const { uid, finalizers = [] } = object.metadata
    if (uid !== claim.metadata.uid || object.status?.allocation !== undefined) return undefined
    const others = finalizers.filter((each) => each !== finalizer)
    if (others.length === finalizers.length) return undefined
    return { ...object, metadata: { ...object.metadata, finalizers: others } }
  }
  if (!claim.metadata.finalizers?.includes(finalizer)) return
  await ignoreNotFound(changeObject(client, claims.type, { name: nameOf(claim), change, signal }))
}

/** Whether the pod that owns the claim has ended. The garbage collector deletes the claims of deleted pods. */
function isLeftOver({ pods }: ClaimReleaseParts, claim: ResourceClaim): boolean {
  const { namespace = '' } = claim.metadata
  const owner = owningPod(claim)
  const pod = owner && pods.get({ namespace, name: owner.name })
  return pod !== undefined && pod.metadata.uid === owner?.uid && hasEnded(pod)
}
