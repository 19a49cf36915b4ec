/**
 * Rolls out Deployments. Each template has one ReplicaSet. The ReplicaSet of the current template is scaled up while
 * all other ReplicaSets are scaled down. A step continues the rollout, or scales, pauses or rolls back the Deployment.
 * Then it writes the status. Changes to the ReplicaSets trigger the next step.
 *
 * Every write requires the resourceVersion on which the decision was based, so that a step with stale data changes
 * nothing. The name of a new ReplicaSet depends on its template, so that a repeated create finds the existing
 * ReplicaSet.
 */

import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Labels } from '../../../../api/selectors/label-selector.ts'
import type { Loop } from '../../../../client/reconcile/loop.ts'
import { fromInformer, type Source } from '../../../../client/reconcile/sources.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nameOfKey, objectKey } from '../../../../client/requests/resource-type.ts'
import { claimObjects } from '../claim-objects.ts'
import { afterRefusal, lookAgain } from '../outcomes.ts'
import { byController, controllerKey, controllerOf } from '../ownership.ts'
import { type SelectingOwners, selectingOwners } from '../selecting-owners.ts'
import { isRolling } from './limits.ts'
import { type DeploymentParts, Rollout } from './parts.ts'
import { syncCounts, syncPaused } from './progress.ts'
import { recreate } from './recreate.ts'
import { sortOut } from './replica-sets.ts'
import { rollBack, rollbackTo } from './rollback.ts'
import { rollOut } from './rolling.ts'
import { isScaled, scaleOnly } from './scaling.ts'

const kind = { group: 'apps', kind: 'Deployment' }

/** Creates the loop that rolls out Deployments. */
export function deploymentLoop(parts: DeploymentParts): Loop {
  const selecting = selectingOwners(parts.deployments, ({ spec }) => spec?.selector)
  return {
    name: 'deployment',
    sources: [fromInformer(parts.deployments), fromReplicaSets(parts, selecting), fromLastPods(parts)],
    reconcile: async (key, signal) => {
      const deployment = parts.deployments.get(nameOfKey(key))
      if (deployment === undefined) return 'done'
      try {
        const all = await claimedSets(parts, deployment, { selecting, signal })
        return lookAgain(await step(new Rollout(parts, deployment, signal), all))
      } catch (error) {
        return afterRefusal(error)
      }
    },
  }
}

/** Triggers a reconcile of the Deployments that own a changed ReplicaSet or may adopt one. */
function fromReplicaSets(parts: DeploymentParts, selecting: SelectingOwners<Deployment>): Source {
  return fromInformer(parts.replicaSets, ({ previous, object }) => {
    const owners = [previous, object].flatMap((set) => (set && controllerKey(set, kind)) ?? [])
    const isOrphan = object !== undefined && controllerOf(object) === undefined
    return new Set([...owners, ...(isOrphan ? selecting.of(object).map(objectKey) : [])])
  })
}

/**
 * When a pod is deleted, triggers a reconcile of Deployments with the Recreate strategy, which wait until all pods of
 * old templates are deleted.
 */
function fromLastPods({ pods, replicaSets, deployments }: DeploymentParts): Source {
  const ownerOf = (pod: Pod): string[] => {
    const name = controllerKey(pod, { group: 'apps', kind: 'ReplicaSet' })
    const set = name === undefined ? undefined : replicaSets.get(nameOfKey(name))
    const key = set && controllerKey(set, kind)
    const deployment = key === undefined ? undefined : deployments.get(nameOfKey(key))
    return deployment === undefined || isRolling(deployment) ? [] : [objectKey(deployment)]
  }
  return fromInformer(pods, ({ previous, object }) =>
    previous !== undefined && object?.metadata.uid !== previous.metadata.uid ? ownerOf(previous) : [],
  )
}

async function claimedSets(
  { client, replicaSets: informer }: DeploymentParts,
  owner: Deployment,
  { selecting, signal }: { readonly selecting: SelectingOwners<Deployment>; readonly signal: AbortSignal },
): Promise<ReplicaSet[]> {
  const { uid = '', namespace = '' } = owner.metadata
  const lookup = byController(informer)
  const selects = (labels: Labels) => selecting.selects(owner, labels)
  const candidates = [...lookup.controlledBy(namespace, uid), ...lookup.orphans(namespace)]
  return await claimObjects(
    { client, type: kinds.ReplicaSet, owner, ownerType: kinds.Deployment, selects, signal },
    candidates,
  )
}

/** Runs one step. Returns the milliseconds until the next check, or undefined to wait for a change. */
async function step(rollout: Rollout, all: readonly ReplicaSet[]): Promise<number | undefined> {
  if (rollout.deployment.metadata.deletionTimestamp !== undefined)
    return void (await syncCounts(rollout, sortOut(rollout.deployment, all)))
  await syncPaused(rollout)
  const { deployment } = rollout
  if (deployment.spec?.paused === true) return void (await scaleOnly(rollout, all))
  if (rollbackTo(deployment) !== undefined) return void (await rollBack(rollout, all))
  if (isScaled(rollout, all)) return void (await scaleOnly(rollout, all))
  return isRolling(deployment) ? await rollOut(rollout, all) : await recreate(rollout, all)
}
