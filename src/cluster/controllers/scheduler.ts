/** The scheduler as an entry of the table: what it follows, by this server's names. */

import type { Service } from '../../api/kinds/core/types/service-spec.ts'
import type { PodDisruptionBudget } from '../../api/kinds/policy/pod-disruption-budget.ts'
import type { CSINode } from '../../api/kinds/storage/csi-node.ts'
import { groupName } from '../../api/model/vendor.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import type { ResourceType } from '../../client/requests/resource-type.ts'
import { defaultSettings, schedulerLoop } from '../scheduler/scheduler.ts'
import type { LoopContext } from './control-loop.ts'
import { pods } from './ephemeral-volume.ts'
import { namespaces } from './namespace.ts'
import { claims, volumes } from './storage-protection.ts'
import { nodes, storageClasses } from './volumes/parts.ts'
import { replicaSets, replicationControllers, statefulSets } from './workloads/resource-types.ts'

const services: ResourceType<Service> = { group: '', version: 'v1', plural: 'services', namespaced: true }
const budgets: ResourceType<PodDisruptionBudget> = {
  ...{ group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true },
}

export function makeScheduler({ client, clock, log, vendor, informer, options }: LoopContext): Loop {
  const storage = groupName(vendor, 'storage')
  const csiNodes: ResourceType<CSINode> = { group: storage, version: 'v1', plural: 'csinodes', namespaced: false }
  return schedulerLoop({
    ...{ client, clock, log, vendor, settings: options.scheduler ?? defaultSettings },
    ...{ pods: informer(pods), nodes: informer(nodes), namespaces: informer(namespaces) },
    ...{ claims: informer(claims), volumes: informer(volumes), classes: informer(storageClasses(vendor)) },
    ...{ csiNodes: informer(csiNodes), budgets: informer(budgets), services: informer(services) },
    ...{ replicaSets: informer(replicaSets), statefulSets: informer(statefulSets) },
    replicationControllers: informer(replicationControllers),
  })
}
