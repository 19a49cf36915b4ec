/**
 * The kinds that have descriptions of their own, with the short names of their groups. Secret values are never shown.
 * To add a kind, write a function in the file of related kinds and add a line here.
 */
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import type { Session } from '../../connection/session.ts'
import { describeBinding, describeRole, describeServiceAccount } from './access.ts'
import { describeCertificateRequest } from './certificates.ts'
import { describeConfigMap, describeNamespace, describeSecret } from './configuration.ts'
import {
  describeEndpointSlice,
  describeEndpoints,
  describeIngress,
  describeIngressClass,
  describeNetworkPolicy,
  describeService,
} from './networking.ts'
import { describeNode } from './node.ts'
import { pendingText } from './pending.ts'
import { describePod } from './pod.ts'
import { describeAutoscaler, describeBudget, describeLimits, describePriorityClass, describeQuota } from './policies.ts'
import { describeClaim, describeStorageClass, describeVolume } from './storage.ts'
import {
  describeCronJob,
  describeDaemonSet,
  describeDeployment,
  describeJob,
  describeReplicaSet,
  describeReplicationController,
  describeStatefulSet,
} from './workloads.ts'

export interface Describer {
  readonly group: string
  readonly kind: string
  readonly describe: (object: ApiObject, session: Session) => string | Promise<string>
  /** Whether to list Events about the object in its description. */
  readonly events: boolean
}

/** Creates a describer for one kind. The cast is safe because the describer is looked up by group and kind. */
function of<T>(
  group: string,
  kind: string,
  describe: (object: T, session: Session) => string | Promise<string>,
  events = true,
): Describer {
  return { group, kind, describe: (object, session) => describe(object as T, session), events }
}

export const describers: readonly Describer[] = [
  of('certificates', 'CertificateSigningRequest', describeCertificateRequest),
  of('core', 'ConfigMap', describeConfigMap),
  of('core', 'Secret', describeSecret, false),
  of('core', 'Namespace', describeNamespace, false),
  of('core', 'Pod', async (pod: Pod, session) => describePod(pod) + (await pendingText(pod, session))),
  of('core', 'Node', describeNode),
  of('core', 'Service', describeService),
  of('core', 'Endpoints', describeEndpoints),
  of('core', 'PersistentVolumeClaim', describeClaim),
  of('core', 'PersistentVolume', describeVolume),
  of('core', 'ReplicationController', describeReplicationController),
  of('core', 'ResourceQuota', describeQuota, false),
  of('core', 'LimitRange', describeLimits, false),
  of('core', 'ServiceAccount', describeServiceAccount),
  of('apps', 'Deployment', describeDeployment),
  of('apps', 'ReplicaSet', describeReplicaSet),
  of('apps', 'StatefulSet', describeStatefulSet),
  of('apps', 'DaemonSet', describeDaemonSet),
  of('batch', 'Job', describeJob),
  of('batch', 'CronJob', describeCronJob),
  of('autoscaling', 'HorizontalPodAutoscaler', describeAutoscaler),
  of('policy', 'PodDisruptionBudget', describeBudget),
  of('networking', 'Ingress', describeIngress),
  of('networking', 'IngressClass', describeIngressClass),
  of('networking', 'NetworkPolicy', describeNetworkPolicy, false),
  of('discovery', 'EndpointSlice', describeEndpointSlice),
  of('storage', 'StorageClass', describeStorageClass),
  of('scheduling', 'PriorityClass', describePriorityClass),
  of('rbac.authorization', 'Role', describeRole, false),
  of('rbac.authorization', 'ClusterRole', describeRole, false),
  of('rbac.authorization', 'RoleBinding', describeBinding, false),
  of('rbac.authorization', 'ClusterRoleBinding', describeBinding, false),
]
