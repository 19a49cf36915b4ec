/**
 * Combines the selectors of a Pod's Services and controller. The result selects the group of Pods with which the Pod is
 * spread evenly.
 */

import type { ReplicaSet } from '../../api/kinds/apps/replica-set.ts'
import type { StatefulSet } from '../../api/kinds/apps/stateful-set.ts'
import type { ReplicationController } from '../../api/kinds/core/replication-controller.ts'
import type { Service } from '../../api/kinds/core/types/service-spec.ts'
import type { SelectorObject } from '../../api/selectors/label-selector.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { PodInfo } from './pod-info.ts'

export interface WorkloadParts {
  readonly services: Informer<Service>
  readonly replicaSets: Informer<ReplicaSet>
  readonly statefulSets: Informer<StatefulSet>
  readonly replicationControllers: Informer<ReplicationController>
}

type LabelMap = { readonly [key: string]: string }

/**
 * Returns a function that computes the combined selector of a Pod. The function returns undefined if no Service or
 * controller selects the Pod.
 */
export function workloadSelectors(parts: WorkloadParts): (pod: PodInfo) => SelectorObject | undefined {
  const servicesByNamespace = parts.services.index(({ metadata }) => [metadata.namespace])
  return (pod) => {
    const serviceSelectors = servicesByNamespace
      .get(pod.namespace)
      .map(({ spec }) => (spec?.selector ?? {}) as LabelMap)
      .filter((labels) => Object.keys(labels).length > 0 && isIn(labels, pod.labels))
    const owner = ownerSelector(pod, parts)
    if (serviceSelectors.length === 0 && owner === undefined) return undefined
    return {
      matchLabels: Object.fromEntries(
        [...serviceSelectors, owner?.matchLabels ?? {}].flatMap((labels) => Object.entries(labels)),
      ),
      matchExpressions: owner?.matchExpressions ?? [],
    }
  }
}

function isIn(requiredLabels: LabelMap, labels: LabelMap): boolean {
  return Object.entries(requiredLabels).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

function ownerSelector({ pod, namespace }: PodInfo, parts: WorkloadParts): SelectorObject | undefined {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return undefined
  const { kind, name } = owner
  switch (kind) {
    case 'ReplicaSet':
      return parts.replicaSets.get({ namespace, name })?.spec?.selector as SelectorObject | undefined
    case 'StatefulSet':
      return parts.statefulSets.get({ namespace, name })?.spec?.selector as SelectorObject | undefined
    case 'ReplicationController': {
      const labels = parts.replicationControllers.get({ namespace, name })?.spec?.selector as LabelMap | undefined
      return labels === undefined ? undefined : { matchLabels: labels }
    }
    default:
      return undefined
  }
}
