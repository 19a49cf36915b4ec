/**
 * Creates the PersistentVolumeClaims for the ephemeral volumes of Pods. A claim is named after its Pod and volume. The
 * Pod owns the claim, so the claim is deleted with the Pod. If a claim with that name exists but the Pod does not own
 * it, the loop reports the claim and leaves it unchanged.
 */

import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { EventRecorder } from '../../client/informers/event-recorder.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey } from '../../client/requests/resource-type.ts'
import { StatusError } from '../../client/requests/status-error.ts'

export interface EphemeralVolumeParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly pods: Informer<Pod>
  readonly claims: Informer<PersistentVolumeClaim>
}

export function ephemeralVolumeLoop(parts: EphemeralVolumeParts): Loop {
  return {
    name: 'ephemeral-volume',
    sources: [
      fromInformer(parts.pods),
      // Recreates a deleted claim while its Pod exists.
      fromInformer(parts.claims, ({ object, previous }) => (object === undefined ? podsOwning(previous!) : [])),
    ],
    reconcile: async (key, signal) => {
      const pod = parts.pods.get(nameOfKey(key))
      return pod === undefined ? 'done' : await reconcile(parts, pod, signal)
    },
  }
}

function podsOwning({ metadata: { namespace, ownerReferences = [] } }: PersistentVolumeClaim): string[] {
  return ownerReferences
    .filter(({ kind, controller }) => kind === 'Pod' && controller)
    .map(({ name }) => `${namespace}/${name}`)
}

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

async function reconcile(parts: EphemeralVolumeParts, pod: Pod, signal: AbortSignal): Promise<StepOutcome> {
  if (pod.metadata.deletionTimestamp !== undefined) return 'done'
  let outcome: StepOutcome = 'done'
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.ephemeral === undefined) continue
    const why = await ensureClaim(parts, pod, { volume, signal })
    if (why === undefined) continue
    const message = `ephemeral volume ${volume.name}: ${why}`
    parts.recorder.record(pod, { type: 'Warning', reason: 'FailedBinding', message })
    outcome = 'later'
  }
  return outcome
}

/**
 * Creates the claim if it is missing. Returns undefined if the Pod owns the claim, and otherwise a message that names
 * the conflict.
 */
async function ensureClaim(
  { client, claims: informer }: EphemeralVolumeParts,
  pod: Pod,
  { volume, signal }: { volume: Volume; signal: AbortSignal },
): Promise<string | undefined> {
  const { namespace = '' } = pod.metadata
  const name = `${pod.metadata.name}-${volume.name}`
  const cachedClaim = informer.get({ namespace, name })
  if (cachedClaim !== undefined) return isOwn(cachedClaim, pod) ? undefined : notOwn(cachedClaim)
  try {
    await client.create(kinds.PersistentVolumeClaim, claimOf(pod, volume), { signal })
    return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.reason !== 'AlreadyExists') return error.message
    const claim = await client.get(kinds.PersistentVolumeClaim, { namespace, name }, { signal })
    return isOwn(claim, pod) ? undefined : notOwn(claim)
  }
}

function isOwn({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller === true && uid === pod.metadata.uid)
}

function notOwn({ metadata: { name, namespace } }: PersistentVolumeClaim): string {
  return `PVC ${namespace}/${name} was not created for the pod (pod is not owner)`
}

function claimOf({ metadata }: Pod, { name: volume, ephemeral }: Volume): PersistentVolumeClaim {
  const { metadata: template = {}, spec } = ephemeral?.volumeClaimTemplate ?? {}
  const { name = '', namespace = '', uid = '' } = metadata
  const owner = { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true }
  const { labels, annotations } = template
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `${name}-${volume}`,
      namespace,
      ownerReferences: [owner],
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(spec === undefined ? {} : { spec }),
  }
}
