/**
 * Resets the condition DisruptionTarget of pods that were not deleted after all, for example because the eviction
 * failed after it had set the condition. Kubernetes 1.26 and later do so two minutes after the condition was set.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import { timestamp } from '../../api/model/object.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOf, nameOfKey } from '../../client/requests/resource-type.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import { hasEnded, isTerminating } from './workloads/pod-state.ts'

/** Time in milliseconds after which a condition is reset. */
const staleAfterMs = 2 * 60_000
/**
 * Reason that nodes set. Conditions with this reason are not reset, because a node may take any amount of time to
 * delete the pod.
 */
const nodeReason = 'TerminationByKubelet'

export interface StaleDisruptionParts {
  readonly client: Client
  readonly clock: Clock
  readonly pods: Informer<Pod>
}

export function staleDisruptionLoop({ client, clock, pods }: StaleDisruptionParts): Loop {
  return {
    name: 'stale-pod-disruption',
    sources: [fromInformer(pods, ({ key, object }) => (disruptedAt(object) === undefined ? [] : [key]))],
    reconcile: async (key, signal) => {
      const pod = pods.get(nameOfKey(key))
      const since = disruptedAt(pod)
      if (pod === undefined || since === undefined) return 'done'
      const now = clock.now()
      const remainingMs = since + staleAfterMs - now
      if (remainingMs > 0) return { afterMs: remainingMs }
      const condition = { type: 'DisruptionTarget', status: 'False', reason: '', message: '' }
      const conditions = [{ ...condition, lastTransitionTime: timestamp(now) }]
      const patch = { strategic: { metadata: { uid: pod.metadata.uid! }, status: { conditions } } }
      await ignoreNotFound(client.patch(kinds.Pod, nameOf(pod), { subresource: 'status', patch, signal }))
      return 'done'
    },
  }
}

/**
 * Returns the time at which the condition was set, in milliseconds since 1970. Returns undefined if the condition
 * cannot become stale.
 */
function disruptedAt(pod: Pod | undefined): number | undefined {
  if (pod === undefined || isTerminating(pod) || hasEnded(pod)) return undefined
  const condition = pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  if (condition?.status !== 'True' || condition.reason === nodeReason) return undefined
  return Date.parse(condition.lastTransitionTime ?? '') || 0
}
