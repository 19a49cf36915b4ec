/**
 * Finds the ReplicaSets of a Deployment, separates the current one from the old ones, and creates the current one if it
 * is missing.
 */

import { sameJson } from '../../../../api/json/json.ts'
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import type { PodTemplateSpec } from '../../../../api/kinds/core/types/pod-template-spec.ts'
import { messageOf } from '../../../../base/text/errors.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nameOf } from '../../../../client/requests/resource-type.ts'
import { StatusError } from '../../../../client/requests/status-error.ts'
import { withCondition } from '../conditions.ts'
import { controllerReference, isControlledBy } from '../ownership.ts'
import { isNamespaceEnding } from '../pod-control.ts'
import { contentHash } from '../template-hash.ts'
import { revisionKey, revisionOf, withReplicasNoted, withRevision } from './annotations.ts'
import { maxSurge, newSize, replicasOf } from './limits.ts'
import { type DeploymentStatus, hasDeadline, progressing, type Rollout } from './parts.ts'

/** Key of the label that distinguishes the pods created from different templates of a Deployment. */
const hashLabel = 'pod-template-hash'

/**
 * The ReplicaSets of a Deployment: `present` is the ReplicaSet with the current template, and `old` contains those with
 * earlier templates.
 */
export interface Sets {
  /** ReplicaSet of the current template. Undefined if it does not exist. */
  readonly present: ReplicaSet | undefined
  /** All other ReplicaSets, oldest first. */
  readonly old: readonly ReplicaSet[]
}

export function allOf({ present, old }: Sets): ReplicaSet[] {
  return present === undefined ? [...old] : [...old, present]
}

/** Returns the ReplicaSets that are scaled above zero. */
export function active(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0)
}

/**
 * Splits ReplicaSets by template. If several have the current template, the oldest of them is the current ReplicaSet.
 */
export function sortOut({ spec }: Deployment, sets: readonly ReplicaSet[]): Sets {
  const oldestFirst = sets.toSorted(byAge)
  const present = oldestFirst.find((set) => sameTemplate(set.spec?.template, spec?.template))
  return { present, old: oldestFirst.filter((set) => set !== present) }
}

/** Sorts by age, oldest first. */
export function byAge({ metadata: a }: ReplicaSet, { metadata: b }: ReplicaSet): number {
  const first = a.creationTimestamp ?? ''
  const second = b.creationTimestamp ?? ''
  if (first !== second) return first < second ? -1 : 1
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1
}

/** Whether two templates create the same pods. Ignores the hash label, which ReplicaSets add. */
export function sameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return sameJson(withoutHash(a), withoutHash(b))
}

export function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const { [hashLabel]: _, ...labels } = template?.metadata?.labels ?? {}
  return { ...template, metadata: { ...template?.metadata, labels } }
}

/**
 * Updates the revision and the annotations of the current ReplicaSet. If `create` is set, creates the ReplicaSet if it
 * is missing.
 */
export async function syncPresent(
  rollout: Rollout,
  all: readonly ReplicaSet[],
  { create }: { readonly create: boolean },
): Promise<Sets> {
  const { vendor } = rollout.parts
  const { present, old } = sortOut(rollout.deployment, all)
  const highest = old.map((set) => revisionOf(vendor, set)).reduce((a, b) => (a > b ? a : b), 0n)
  const revision = highest + 1n
  if (present !== undefined) return { old, present: await updatePresent(rollout, present, revision) }
  return { old, present: create ? await createPresent(rollout, old, revision) : undefined }
}

async function updatePresent(rollout: Rollout, present: ReplicaSet, revision: bigint): Promise<ReplicaSet> {
  const { vendor, client } = rollout.parts
  const { deployment, signal } = rollout
  const { minReadySeconds = 0 } = deployment.spec ?? {}
  const noted = withRevision(vendor, present, { deployment, revision })
  const isSame = sameJson(noted.metadata.annotations ?? {}, present.metadata.annotations ?? {})
  if (!isSame || minReadySeconds !== (present.spec?.minReadySeconds ?? 0)) {
    const next = { ...noted, spec: { ...noted.spec, minReadySeconds } }
    return await client.update(kinds.ReplicaSet, next, { signal })
  }
  const foundNews = { reason: 'FoundNewReplicaSet', message: `Found new replica set "${present.metadata.name}"` }
  const number = present.metadata.annotations?.[revisionKey(vendor)] ?? ''
  await noteRevision(rollout, number, progressing(deployment) === undefined ? foundNews : undefined)
  return present
}

/** Records the revision in the Deployment, together with a change to the Progressing condition. */
async function noteRevision(
  rollout: Rollout,
  revision: string,
  news: { readonly reason: string; readonly message: string } | undefined,
): Promise<void> {
  const { metadata, status } = rollout.deployment
  const key = revisionKey(rollout.parts.vendor)
  const progressNews = hasDeadline(rollout.deployment) ? news : undefined
  if (metadata.annotations?.[key] === revision && progressNews === undefined) return
  const annotations = { ...metadata.annotations, [key]: revision }
  await rollout.writeStatus({
    metadata: { ...metadata, annotations },
    status: { ...status, ...(progressNews === undefined ? {} : conditionsWith(rollout, 'True', progressNews)) },
  })
}

function conditionsWith(
  rollout: Rollout,
  status: string,
  progressNews: { readonly reason: string; readonly message: string },
): Pick<DeploymentStatus, 'conditions'> {
  const condition = rollout.condition('Progressing', status, progressNews)
  return { conditions: withCondition(rollout.deployment.status?.conditions, condition) }
}

async function createPresent(
  rollout: Rollout,
  old: readonly ReplicaSet[],
  revision: bigint,
): Promise<ReplicaSet | undefined> {
  const draft = newReplicaSet(rollout, old, revision)
  const { name } = draft.metadata
  try {
    const created = await rollout.parts.client.create(kinds.ReplicaSet, draft, { signal: rollout.signal })
    const size = replicasOf(created)
    if (size > 0) rollout.event('Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} to ${size}`)
    const message = `Created new replica set "${name}"`
    await noteRevision(rollout, String(revision), { reason: 'NewReplicaSetCreated', message })
    return created
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'AlreadyExists') {
      const existingSet = await resolveCollision(rollout, draft, error)
      await noteRevision(rollout, String(revision), undefined)
      return existingSet
    }
    if (!isNamespaceEnding(error))
      await tellFailure(rollout, `Failed to create new replica set "${name}": ${messageOf(error)}`)
    throw error
  }
}

/**
 * Returns the existing ReplicaSet with this name if it has the desired template. Otherwise increments the collision
 * count, so that the next attempt uses another name.
 */
async function resolveCollision(rollout: Rollout, draft: ReplicaSet, error: StatusError): Promise<ReplicaSet> {
  const { deployment, parts, signal } = rollout
  const existingSet = await parts.client.get(kinds.ReplicaSet, nameOf(draft), { signal })
  if (isControlledBy(existingSet, deployment) && sameTemplate(existingSet.spec?.template, draft.spec?.template))
    return existingSet
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
  await rollout.writeStatus({ status: { ...deployment.status, collisionCount } })
  throw error
}

async function tellFailure(rollout: Rollout, message: string): Promise<void> {
  const reason = 'ReplicaSetCreateError'
  const { deployment } = rollout
  rollout.event('Warning', reason, message)
  if (!hasDeadline(deployment)) return
  const { conditions } = conditionsWith(rollout, 'False', { reason, message })
  if (sameJson(conditions, deployment.status?.conditions)) return
  await rollout.writeStatus({ status: { ...deployment.status, ...(conditions === undefined ? {} : { conditions }) } })
}

function newReplicaSet(rollout: Rollout, old: readonly ReplicaSet[], revision: bigint): ReplicaSet {
  const { deployment, parts } = rollout
  const { namespace = '', name = '' } = deployment.metadata
  const { template, selector, minReadySeconds = 0 } = deployment.spec ?? {}
  const hash = contentHash(template, deployment.status?.collisionCount)
  const labels = { ...template?.metadata?.labels, [hashLabel]: hash }
  const replicas = newSize(deployment, { present: undefined, old })
  const draft: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: `${name}-${hash}`, namespace, labels, ownerReferences: [controllerReference(deployment)] },
    spec: {
      replicas,
      minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  }
  const noted = withRevision(parts.vendor, draft, { deployment, revision })
  const max = rollout.replicas + maxSurge(deployment)
  return withReplicasNoted(parts.vendor, noted, { desired: rollout.replicas, max })
}
