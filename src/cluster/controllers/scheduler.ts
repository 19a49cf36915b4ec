/** The scheduler as an entry of the table: what it follows, by this server's names. */

import type { CSINode } from '../../api/kinds/storage/csi-node.ts'
import { groupName } from '../../api/model/vendor.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { inDomainOf, type ResourceType } from '../../client/requests/resource-type.ts'
import { defaultSettings, schedulerLoop } from '../scheduler/scheduler.ts'
import type { LoopContext } from './control-loop.ts'

export function makeScheduler({ client, clock, log, vendor, informer, options }: LoopContext): Loop {
  const storage = groupName(vendor, 'storage')
  const csiNodes: ResourceType<CSINode> = { group: storage, version: 'v1', plural: 'csinodes', namespaced: false }
  return schedulerLoop({
    ...{ client, clock, log, vendor, settings: options.scheduler ?? defaultSettings },
    ...{ pods: informer(kinds.Pod), nodes: informer(kinds.Node), namespaces: informer(kinds.Namespace) },
    ...{
      claims: informer(kinds.PersistentVolumeClaim),
      volumes: informer(kinds.PersistentVolume),
      classes: informer(inDomainOf(vendor, kinds.StorageClass)),
    },
    ...{
      csiNodes: informer(csiNodes),
      budgets: informer(kinds.PodDisruptionBudget),
      services: informer(kinds.Service),
    },
    ...{ replicaSets: informer(kinds.ReplicaSet), statefulSets: informer(kinds.StatefulSet) },
    replicationControllers: informer(kinds.ReplicationController),
  })
}
