/** The resource types that workload loops work on, as a client addresses them. */

import type { ControllerRevision } from '../../../api/kinds/apps/controller-revision.ts'
import type { DaemonSet } from '../../../api/kinds/apps/daemon-set.ts'
import type { Deployment } from '../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../api/kinds/apps/replica-set.ts'
import type { StatefulSet } from '../../../api/kinds/apps/stateful-set.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ReplicationController } from '../../../api/kinds/core/replication-controller.ts'
import type { ResourceType } from '../../../client/requests/resource-type.ts'

const core = { group: '', version: 'v1', namespaced: true }
const apps = { group: 'apps', version: 'v1', namespaced: true }

export const pods: ResourceType<Pod> = { ...core, plural: 'pods', kind: 'Pod' }
export const nodes: ResourceType<Node> = { ...core, namespaced: false, plural: 'nodes', kind: 'Node' }
export const replicationControllers: ResourceType<ReplicationController> = {
  ...core,
  plural: 'replicationcontrollers',
  kind: 'ReplicationController',
}
export const replicaSets: ResourceType<ReplicaSet> = { ...apps, plural: 'replicasets', kind: 'ReplicaSet' }
export const deployments: ResourceType<Deployment> = { ...apps, plural: 'deployments', kind: 'Deployment' }
export const statefulSets: ResourceType<StatefulSet> = { ...apps, plural: 'statefulsets', kind: 'StatefulSet' }
export const daemonSets: ResourceType<DaemonSet> = { ...apps, plural: 'daemonsets', kind: 'DaemonSet' }
export const controllerRevisions: ResourceType<ControllerRevision> = {
  ...apps,
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
}
