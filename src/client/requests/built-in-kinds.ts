/**
 * The built-in kinds as clients address them. This is the only table of the kinds outside `api/kinds/`. Loops, the
 * scheduler, nodes, commands and users of `orch/client` import their resource types from this file: `Pod` is both the
 * type of the objects and the value to pass to a client. The stored version has the plain name and other versions have
 * a suffix: `CronJobV1beta1`.
 *
 * Only types are imported from `api/kinds/`, so that a bundle contains no definitions and only the rows that it uses.
 * `test/client/built-in-kinds.test.ts` compares each row with the definition and prints missing rows.
 * `scripts/declare.mjs` replaces the declarations of this file with declarations that contain the descriptions of the
 * definitions.
 */

import type {
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyV1beta1,
} from '../../api/kinds/admissionregistration/mutating-admission-policy.ts'
import type {
  mutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicyBindingV1beta1,
} from '../../api/kinds/admissionregistration/mutating-admission-policy-binding.ts'
import type {
  mutatingWebhookConfiguration,
  mutatingWebhookConfigurationV1beta1,
} from '../../api/kinds/admissionregistration/mutating-webhook-configuration.ts'
import type {
  validatingAdmissionPolicy,
  validatingAdmissionPolicyV1beta1,
} from '../../api/kinds/admissionregistration/validating-admission-policy.ts'
import type {
  validatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindingV1beta1,
} from '../../api/kinds/admissionregistration/validating-admission-policy-binding.ts'
import type {
  validatingWebhookConfiguration,
  validatingWebhookConfigurationV1beta1,
} from '../../api/kinds/admissionregistration/validating-webhook-configuration.ts'
import type { customResourceDefinition } from '../../api/kinds/apiextensions/custom-resource-definition.ts'
import type { apiService } from '../../api/kinds/apiregistration/api-service.ts'
import type { controllerRevision } from '../../api/kinds/apps/controller-revision.ts'
import type { daemonSet } from '../../api/kinds/apps/daemon-set.ts'
import type { deployment } from '../../api/kinds/apps/deployment.ts'
import type { replicaSet } from '../../api/kinds/apps/replica-set.ts'
import type { statefulSet } from '../../api/kinds/apps/stateful-set.ts'
import type { selfSubjectReview, selfSubjectReviewV1beta1 } from '../../api/kinds/authentication/self-subject-review.ts'
import type { tokenRequest } from '../../api/kinds/authentication/token-request.ts'
import type { tokenReview } from '../../api/kinds/authentication/token-review.ts'
import type { selfSubjectAccessReview } from '../../api/kinds/authorization/self-subject-access-review.ts'
import type { selfSubjectRulesReview } from '../../api/kinds/authorization/self-subject-rules-review.ts'
import type {
  localSubjectAccessReview,
  subjectAccessReview,
} from '../../api/kinds/authorization/subject-access-review.ts'
import type { horizontalPodAutoscaler } from '../../api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { horizontalPodAutoscalerV1 } from '../../api/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts'
import type { horizontalPodAutoscalerV2beta1 } from '../../api/kinds/autoscaling/horizontal-pod-autoscaler-v2beta1.ts'
import type { horizontalPodAutoscalerV2beta2 } from '../../api/kinds/autoscaling/horizontal-pod-autoscaler-v2beta2.ts'
import type { scale } from '../../api/kinds/autoscaling/scale.ts'
import type { cronJob, cronJobV1beta1 } from '../../api/kinds/batch/cron-job.ts'
import type { job } from '../../api/kinds/batch/job.ts'
import type { certificateSigningRequest } from '../../api/kinds/certificates/certificate-signing-request.ts'
import type { clusterTrustBundle } from '../../api/kinds/certificates/cluster-trust-bundle.ts'
import type { podCertificateRequest } from '../../api/kinds/certificates/pod-certificate-request.ts'
import type { lease } from '../../api/kinds/coordination/lease.ts'
import type { leaseCandidate } from '../../api/kinds/coordination/lease-candidate.ts'
import type { binding } from '../../api/kinds/core/binding.ts'
import type { componentStatus } from '../../api/kinds/core/component-status.ts'
import type { configMap } from '../../api/kinds/core/config-map.ts'
import type { endpoints } from '../../api/kinds/core/endpoints.ts'
import type { event } from '../../api/kinds/core/event.ts'
import type { limitRange } from '../../api/kinds/core/limit-range.ts'
import type { namespace } from '../../api/kinds/core/namespace.ts'
import type { node } from '../../api/kinds/core/node.ts'
import type { persistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { persistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { pod } from '../../api/kinds/core/pod.ts'
import type { podTemplate } from '../../api/kinds/core/pod-template.ts'
import type { replicationController } from '../../api/kinds/core/replication-controller.ts'
import type { resourceQuota } from '../../api/kinds/core/resource-quota.ts'
import type { secret } from '../../api/kinds/core/secret.ts'
import type { service } from '../../api/kinds/core/service.ts'
import type { serviceAccount } from '../../api/kinds/core/service-account.ts'
import type { endpointSlice } from '../../api/kinds/discovery/endpoint-slice.ts'
import type { endpointSliceV1beta1 } from '../../api/kinds/discovery/endpoint-slice-v1beta1.ts'
import type { eventV1, eventV1beta1 } from '../../api/kinds/events/event.ts'
import type {
  flowSchema,
  flowSchemaV1,
  flowSchemaV1beta1,
  flowSchemaV1beta3,
} from '../../api/kinds/flowcontrol/flow-schema.ts'
import type {
  priorityLevelConfiguration,
  priorityLevelConfigurationV1beta1,
} from '../../api/kinds/flowcontrol/priority-level-configuration.ts'
import type {
  priorityLevelConfigurationV1,
  priorityLevelConfigurationV1beta3,
} from '../../api/kinds/flowcontrol/priority-level-configuration-v1.ts'
import type { ingress } from '../../api/kinds/networking/ingress.ts'
import type { ingressClass } from '../../api/kinds/networking/ingress-class.ts'
import type { ipAddress, ipAddressV1beta1 } from '../../api/kinds/networking/ip-address.ts'
import type { networkPolicy } from '../../api/kinds/networking/network-policy.ts'
import type { serviceCidr, serviceCidrV1beta1 } from '../../api/kinds/networking/service-cidr.ts'
import type { runtimeClass, runtimeClassV1beta1 } from '../../api/kinds/node/runtime-class.ts'
import type { accessExplanation } from '../../api/kinds/ops/access-explanation.ts'
import type { admissionControl } from '../../api/kinds/ops/admission-control.ts'
import type { admissionWebhook } from '../../api/kinds/ops/admission-webhook.ts'
import type { auditEvent } from '../../api/kinds/ops/audit-event.ts'
import type { certificateDenyList } from '../../api/kinds/ops/certificate-deny-list.ts'
import type { deletionExplanation } from '../../api/kinds/ops/deletion-explanation.ts'
import type { objectHistory } from '../../api/kinds/ops/object-history.ts'
import type { pastState } from '../../api/kinds/ops/past-state.ts'
import type { policyReport } from '../../api/kinds/ops/policy-report.ts'
import type { simulationRule } from '../../api/kinds/ops/simulation-rule.ts'
import type { webhookPreview } from '../../api/kinds/ops/webhook-preview.ts'
import type { whoAmI } from '../../api/kinds/ops/who-am-i.ts'
import type { whoCan } from '../../api/kinds/ops/who-can.ts'
import type { eviction } from '../../api/kinds/policy/eviction.ts'
import type { podDisruptionBudget, podDisruptionBudgetV1beta1 } from '../../api/kinds/policy/pod-disruption-budget.ts'
import type { podSecurityPolicy } from '../../api/kinds/policy/pod-security-policy.ts'
import type { clusterRole } from '../../api/kinds/rbac/cluster-role.ts'
import type { clusterRoleBinding } from '../../api/kinds/rbac/cluster-role-binding.ts'
import type { role } from '../../api/kinds/rbac/role.ts'
import type { roleBinding } from '../../api/kinds/rbac/role-binding.ts'
import type { deviceClass, deviceClassV1beta2 } from '../../api/kinds/resource/device-class.ts'
import type { deviceTaintRule } from '../../api/kinds/resource/device-taint-rule.ts'
import type { resourceClaim, resourceClaimV1beta2 } from '../../api/kinds/resource/resource-claim.ts'
import type {
  resourceClaimTemplate,
  resourceClaimTemplateV1beta2,
} from '../../api/kinds/resource/resource-claim-template.ts'
import type { resourceSlice, resourceSliceV1beta2 } from '../../api/kinds/resource/resource-slice.ts'
import type {
  deviceClassV1beta1,
  resourceClaimTemplateV1beta1,
  resourceClaimV1beta1,
  resourceSliceV1beta1,
} from '../../api/kinds/resource/v1beta1.ts'
import type { priorityClass } from '../../api/kinds/scheduling/priority-class.ts'
import type { csiDriver } from '../../api/kinds/storage/csi-driver.ts'
import type { csiNode } from '../../api/kinds/storage/csi-node.ts'
import type { csiStorageCapacity, csiStorageCapacityV1 } from '../../api/kinds/storage/csi-storage-capacity.ts'
import type { storageClass } from '../../api/kinds/storage/storage-class.ts'
import type { volumeAttachment } from '../../api/kinds/storage/volume-attachment.ts'
import type {
  volumeAttributesClass,
  volumeAttributesClassV1beta1,
} from '../../api/kinds/storage/volume-attributes-class.ts'
import type { storageVersionMigration } from '../../api/kinds/storagemigration/storage-version-migration.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { ResourceType } from './resource-type.ts'

type ObjectsOf<K extends { readonly infer?: unknown }> = NonNullable<K['infer']>

/** Declares a namespaced kind. Bundlers remove calls whose result is unused. */
/* @__NO_SIDE_EFFECTS__ */
function namespaced<T extends ObjectBase>(groupVersion: string, kind: string, plural: string): ResourceType<T> {
  return { ...typeOf(groupVersion), kind, plural, namespaced: true }
}

/** Declares a cluster-scoped kind. */
/* @__NO_SIDE_EFFECTS__ */
function clusterWide<T extends ObjectBase>(groupVersion: string, kind: string, plural: string): ResourceType<T> {
  return { ...typeOf(groupVersion), kind, plural, namespaced: false }
}

/**
 * Splits an apiVersion into group and version. Some old groups have no domain and therefore have the same name on every
 * server.
 */
function typeOf(groupVersion: string): Pick<ResourceType, 'group' | 'version' | 'inServerDomain'> {
  const [version = '', group = ''] = groupVersion.split('/').reverse()
  const isBare = ['', 'apps', 'autoscaling', 'batch', 'policy'].includes(group)
  return { group, version, ...(isBare ? {} : { inServerDomain: true }) }
}

export type Binding = ObjectsOf<typeof binding>
export const Binding = namespaced<Binding>('v1', 'Binding', 'bindings')
export type ComponentStatus = ObjectsOf<typeof componentStatus>
export const ComponentStatus = clusterWide<ComponentStatus>('v1', 'ComponentStatus', 'componentstatuses')
export type ConfigMap = ObjectsOf<typeof configMap>
export const ConfigMap = namespaced<ConfigMap>('v1', 'ConfigMap', 'configmaps')
export type Endpoints = ObjectsOf<typeof endpoints>
export const Endpoints = namespaced<Endpoints>('v1', 'Endpoints', 'endpoints')
export type Event = ObjectsOf<typeof event>
export const Event = namespaced<Event>('v1', 'Event', 'events')
export type LimitRange = ObjectsOf<typeof limitRange>
export const LimitRange = namespaced<LimitRange>('v1', 'LimitRange', 'limitranges')
export type Namespace = ObjectsOf<typeof namespace>
export const Namespace = clusterWide<Namespace>('v1', 'Namespace', 'namespaces')
export type Node = ObjectsOf<typeof node>
export const Node = clusterWide<Node>('v1', 'Node', 'nodes')
export type PersistentVolumeClaim = ObjectsOf<typeof persistentVolumeClaim>
export const PersistentVolumeClaim = namespaced<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
)
export type PersistentVolume = ObjectsOf<typeof persistentVolume>
export const PersistentVolume = clusterWide<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes')
export type Pod = ObjectsOf<typeof pod>
export const Pod = namespaced<Pod>('v1', 'Pod', 'pods')
export type PodTemplate = ObjectsOf<typeof podTemplate>
export const PodTemplate = namespaced<PodTemplate>('v1', 'PodTemplate', 'podtemplates')
export type ReplicationController = ObjectsOf<typeof replicationController>
export const ReplicationController = namespaced<ReplicationController>(
  'v1',
  'ReplicationController',
  'replicationcontrollers',
)
export type ResourceQuota = ObjectsOf<typeof resourceQuota>
export const ResourceQuota = namespaced<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas')
export type Secret = ObjectsOf<typeof secret>
export const Secret = namespaced<Secret>('v1', 'Secret', 'secrets')
export type ServiceAccount = ObjectsOf<typeof serviceAccount>
export const ServiceAccount = namespaced<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts')
export type Service = ObjectsOf<typeof service>
export const Service = namespaced<Service>('v1', 'Service', 'services')
export type APIService = ObjectsOf<typeof apiService>
export const APIService = clusterWide<APIService>('apiregistration/v1', 'APIService', 'apiservices')
export type ControllerRevision = ObjectsOf<typeof controllerRevision>
export const ControllerRevision = namespaced<ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions')
export type DaemonSet = ObjectsOf<typeof daemonSet>
export const DaemonSet = namespaced<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets')
export type Deployment = ObjectsOf<typeof deployment>
export const Deployment = namespaced<Deployment>('apps/v1', 'Deployment', 'deployments')
export type ReplicaSet = ObjectsOf<typeof replicaSet>
export const ReplicaSet = namespaced<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets')
export type StatefulSet = ObjectsOf<typeof statefulSet>
export const StatefulSet = namespaced<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets')
export type EventV1 = ObjectsOf<typeof eventV1>
export const EventV1 = namespaced<EventV1>('events/v1', 'Event', 'events')
export type EventV1beta1 = ObjectsOf<typeof eventV1beta1>
export const EventV1beta1 = namespaced<EventV1beta1>('events/v1beta1', 'Event', 'events')
export type SelfSubjectReview = ObjectsOf<typeof selfSubjectReview>
export const SelfSubjectReview = clusterWide<SelfSubjectReview>(
  'authentication/v1',
  'SelfSubjectReview',
  'selfsubjectreviews',
)
export type SelfSubjectReviewV1beta1 = ObjectsOf<typeof selfSubjectReviewV1beta1>
export const SelfSubjectReviewV1beta1 = clusterWide<SelfSubjectReviewV1beta1>(
  'authentication/v1beta1',
  'SelfSubjectReview',
  'selfsubjectreviews',
)
export type TokenReview = ObjectsOf<typeof tokenReview>
export const TokenReview = clusterWide<TokenReview>('authentication/v1', 'TokenReview', 'tokenreviews')
export type LocalSubjectAccessReview = ObjectsOf<typeof localSubjectAccessReview>
export const LocalSubjectAccessReview = namespaced<LocalSubjectAccessReview>(
  'authorization/v1',
  'LocalSubjectAccessReview',
  'localsubjectaccessreviews',
)
export type SelfSubjectAccessReview = ObjectsOf<typeof selfSubjectAccessReview>
export const SelfSubjectAccessReview = clusterWide<SelfSubjectAccessReview>(
  'authorization/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
)
export type SelfSubjectRulesReview = ObjectsOf<typeof selfSubjectRulesReview>
export const SelfSubjectRulesReview = clusterWide<SelfSubjectRulesReview>(
  'authorization/v1',
  'SelfSubjectRulesReview',
  'selfsubjectrulesreviews',
)
export type SubjectAccessReview = ObjectsOf<typeof subjectAccessReview>
export const SubjectAccessReview = clusterWide<SubjectAccessReview>(
  'authorization/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
)
export type HorizontalPodAutoscaler = ObjectsOf<typeof horizontalPodAutoscaler>
export const HorizontalPodAutoscaler = namespaced<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export type HorizontalPodAutoscalerV1 = ObjectsOf<typeof horizontalPodAutoscalerV1>
export const HorizontalPodAutoscalerV1 = namespaced<HorizontalPodAutoscalerV1>(
  'autoscaling/v1',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export type HorizontalPodAutoscalerV2beta1 = ObjectsOf<typeof horizontalPodAutoscalerV2beta1>
export const HorizontalPodAutoscalerV2beta1 = namespaced<HorizontalPodAutoscalerV2beta1>(
  'autoscaling/v2beta1',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export type HorizontalPodAutoscalerV2beta2 = ObjectsOf<typeof horizontalPodAutoscalerV2beta2>
export const HorizontalPodAutoscalerV2beta2 = namespaced<HorizontalPodAutoscalerV2beta2>(
  'autoscaling/v2beta2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export type CronJob = ObjectsOf<typeof cronJob>
export const CronJob = namespaced<CronJob>('batch/v1', 'CronJob', 'cronjobs')
export type Job = ObjectsOf<typeof job>
export const Job = namespaced<Job>('batch/v1', 'Job', 'jobs')
export type CronJobV1beta1 = ObjectsOf<typeof cronJobV1beta1>
export const CronJobV1beta1 = namespaced<CronJobV1beta1>('batch/v1beta1', 'CronJob', 'cronjobs')
export type CertificateSigningRequest = ObjectsOf<typeof certificateSigningRequest>
export const CertificateSigningRequest = clusterWide<CertificateSigningRequest>(
  'certificates/v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
)
export type ClusterTrustBundle = ObjectsOf<typeof clusterTrustBundle>
export const ClusterTrustBundle = clusterWide<ClusterTrustBundle>(
  'certificates/v1beta1',
  'ClusterTrustBundle',
  'clustertrustbundles',
)
export type PodCertificateRequest = ObjectsOf<typeof podCertificateRequest>
export const PodCertificateRequest = namespaced<PodCertificateRequest>(
  'certificates/v1beta1',
  'PodCertificateRequest',
  'podcertificaterequests',
)
export type IngressClass = ObjectsOf<typeof ingressClass>
export const IngressClass = clusterWide<IngressClass>('networking/v1', 'IngressClass', 'ingressclasses')
export type Ingress = ObjectsOf<typeof ingress>
export const Ingress = namespaced<Ingress>('networking/v1', 'Ingress', 'ingresses')
export type IPAddress = ObjectsOf<typeof ipAddress>
export const IPAddress = clusterWide<IPAddress>('networking/v1', 'IPAddress', 'ipaddresses')
export type IPAddressV1beta1 = ObjectsOf<typeof ipAddressV1beta1>
export const IPAddressV1beta1 = clusterWide<IPAddressV1beta1>('networking/v1beta1', 'IPAddress', 'ipaddresses')
export type ServiceCIDR = ObjectsOf<typeof serviceCidr>
export const ServiceCIDR = clusterWide<ServiceCIDR>('networking/v1', 'ServiceCIDR', 'servicecidrs')
export type ServiceCIDRV1beta1 = ObjectsOf<typeof serviceCidrV1beta1>
export const ServiceCIDRV1beta1 = clusterWide<ServiceCIDRV1beta1>('networking/v1beta1', 'ServiceCIDR', 'servicecidrs')
export type NetworkPolicy = ObjectsOf<typeof networkPolicy>
export const NetworkPolicy = namespaced<NetworkPolicy>('networking/v1', 'NetworkPolicy', 'networkpolicies')
export type PodDisruptionBudget = ObjectsOf<typeof podDisruptionBudget>
export const PodDisruptionBudget = namespaced<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
export type PodDisruptionBudgetV1beta1 = ObjectsOf<typeof podDisruptionBudgetV1beta1>
export const PodDisruptionBudgetV1beta1 = namespaced<PodDisruptionBudgetV1beta1>(
  'policy/v1beta1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
export type PodSecurityPolicy = ObjectsOf<typeof podSecurityPolicy>
export const PodSecurityPolicy = clusterWide<PodSecurityPolicy>(
  'policy/v1beta1',
  'PodSecurityPolicy',
  'podsecuritypolicies',
)
export type ClusterRoleBinding = ObjectsOf<typeof clusterRoleBinding>
export const ClusterRoleBinding = clusterWide<ClusterRoleBinding>(
  'rbac.authorization/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
)
export type ClusterRole = ObjectsOf<typeof clusterRole>
export const ClusterRole = clusterWide<ClusterRole>('rbac.authorization/v1', 'ClusterRole', 'clusterroles')
export type RoleBinding = ObjectsOf<typeof roleBinding>
export const RoleBinding = namespaced<RoleBinding>('rbac.authorization/v1', 'RoleBinding', 'rolebindings')
export type Role = ObjectsOf<typeof role>
export const Role = namespaced<Role>('rbac.authorization/v1', 'Role', 'roles')
export type DeviceClass = ObjectsOf<typeof deviceClass>
export const DeviceClass = clusterWide<DeviceClass>('resource/v1', 'DeviceClass', 'deviceclasses')
export type ResourceClaim = ObjectsOf<typeof resourceClaim>
export const ResourceClaim = namespaced<ResourceClaim>('resource/v1', 'ResourceClaim', 'resourceclaims')
export type ResourceClaimTemplate = ObjectsOf<typeof resourceClaimTemplate>
export const ResourceClaimTemplate = namespaced<ResourceClaimTemplate>(
  'resource/v1',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
)
export type ResourceSlice = ObjectsOf<typeof resourceSlice>
export const ResourceSlice = clusterWide<ResourceSlice>('resource/v1', 'ResourceSlice', 'resourceslices')
export type DeviceClassV1beta2 = ObjectsOf<typeof deviceClassV1beta2>
export const DeviceClassV1beta2 = clusterWide<DeviceClassV1beta2>('resource/v1beta2', 'DeviceClass', 'deviceclasses')
export type ResourceClaimV1beta2 = ObjectsOf<typeof resourceClaimV1beta2>
export const ResourceClaimV1beta2 = namespaced<ResourceClaimV1beta2>(
  'resource/v1beta2',
  'ResourceClaim',
  'resourceclaims',
)
export type ResourceClaimTemplateV1beta2 = ObjectsOf<typeof resourceClaimTemplateV1beta2>
export const ResourceClaimTemplateV1beta2 = namespaced<ResourceClaimTemplateV1beta2>(
  'resource/v1beta2',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
)
export type ResourceSliceV1beta2 = ObjectsOf<typeof resourceSliceV1beta2>
export const ResourceSliceV1beta2 = clusterWide<ResourceSliceV1beta2>(
  'resource/v1beta2',
  'ResourceSlice',
  'resourceslices',
)
export type DeviceTaintRule = ObjectsOf<typeof deviceTaintRule>
export const DeviceTaintRule = clusterWide<DeviceTaintRule>('resource/v1beta2', 'DeviceTaintRule', 'devicetaintrules')
export type DeviceClassV1beta1 = ObjectsOf<typeof deviceClassV1beta1>
export const DeviceClassV1beta1 = clusterWide<DeviceClassV1beta1>('resource/v1beta1', 'DeviceClass', 'deviceclasses')
export type ResourceClaimV1beta1 = ObjectsOf<typeof resourceClaimV1beta1>
export const ResourceClaimV1beta1 = namespaced<ResourceClaimV1beta1>(
  'resource/v1beta1',
  'ResourceClaim',
  'resourceclaims',
)
export type ResourceClaimTemplateV1beta1 = ObjectsOf<typeof resourceClaimTemplateV1beta1>
export const ResourceClaimTemplateV1beta1 = namespaced<ResourceClaimTemplateV1beta1>(
  'resource/v1beta1',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
)
export type ResourceSliceV1beta1 = ObjectsOf<typeof resourceSliceV1beta1>
export const ResourceSliceV1beta1 = clusterWide<ResourceSliceV1beta1>(
  'resource/v1beta1',
  'ResourceSlice',
  'resourceslices',
)
export type CSIDriver = ObjectsOf<typeof csiDriver>
export const CSIDriver = clusterWide<CSIDriver>('storage/v1', 'CSIDriver', 'csidrivers')
export type CSINode = ObjectsOf<typeof csiNode>
export const CSINode = clusterWide<CSINode>('storage/v1', 'CSINode', 'csinodes')
export type StorageClass = ObjectsOf<typeof storageClass>
export const StorageClass = clusterWide<StorageClass>('storage/v1', 'StorageClass', 'storageclasses')
export type VolumeAttributesClass = ObjectsOf<typeof volumeAttributesClass>
export const VolumeAttributesClass = clusterWide<VolumeAttributesClass>(
  'storage/v1',
  'VolumeAttributesClass',
  'volumeattributesclasses',
)
export type VolumeAttributesClassV1beta1 = ObjectsOf<typeof volumeAttributesClassV1beta1>
export const VolumeAttributesClassV1beta1 = clusterWide<VolumeAttributesClassV1beta1>(
  'storage/v1beta1',
  'VolumeAttributesClass',
  'volumeattributesclasses',
)
export type VolumeAttachment = ObjectsOf<typeof volumeAttachment>
export const VolumeAttachment = clusterWide<VolumeAttachment>('storage/v1', 'VolumeAttachment', 'volumeattachments')
export type CSIStorageCapacityV1 = ObjectsOf<typeof csiStorageCapacityV1>
export const CSIStorageCapacityV1 = namespaced<CSIStorageCapacityV1>(
  'storage/v1',
  'CSIStorageCapacity',
  'csistoragecapacities',
)
export type CSIStorageCapacity = ObjectsOf<typeof csiStorageCapacity>
export const CSIStorageCapacity = namespaced<CSIStorageCapacity>(
  'storage/v1beta1',
  'CSIStorageCapacity',
  'csistoragecapacities',
)
export type MutatingWebhookConfiguration = ObjectsOf<typeof mutatingWebhookConfiguration>
export const MutatingWebhookConfiguration = clusterWide<MutatingWebhookConfiguration>(
  'admissionregistration/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
export type ValidatingWebhookConfiguration = ObjectsOf<typeof validatingWebhookConfiguration>
export const ValidatingWebhookConfiguration = clusterWide<ValidatingWebhookConfiguration>(
  'admissionregistration/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)
export type MutatingWebhookConfigurationV1beta1 = ObjectsOf<typeof mutatingWebhookConfigurationV1beta1>
export const MutatingWebhookConfigurationV1beta1 = clusterWide<MutatingWebhookConfigurationV1beta1>(
  'admissionregistration/v1beta1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
export type MutatingAdmissionPolicy = ObjectsOf<typeof mutatingAdmissionPolicy>
export const MutatingAdmissionPolicy = clusterWide<MutatingAdmissionPolicy>(
  'admissionregistration/v1',
  'MutatingAdmissionPolicy',
  'mutatingadmissionpolicies',
)
export type MutatingAdmissionPolicyV1beta1 = ObjectsOf<typeof mutatingAdmissionPolicyV1beta1>
export const MutatingAdmissionPolicyV1beta1 = clusterWide<MutatingAdmissionPolicyV1beta1>(
  'admissionregistration/v1beta1',
  'MutatingAdmissionPolicy',
  'mutatingadmissionpolicies',
)
export type MutatingAdmissionPolicyBinding = ObjectsOf<typeof mutatingAdmissionPolicyBinding>
export const MutatingAdmissionPolicyBinding = clusterWide<MutatingAdmissionPolicyBinding>(
  'admissionregistration/v1',
  'MutatingAdmissionPolicyBinding',
  'mutatingadmissionpolicybindings',
)
export type MutatingAdmissionPolicyBindingV1beta1 = ObjectsOf<typeof mutatingAdmissionPolicyBindingV1beta1>
export const MutatingAdmissionPolicyBindingV1beta1 = clusterWide<MutatingAdmissionPolicyBindingV1beta1>(
  'admissionregistration/v1beta1',
  'MutatingAdmissionPolicyBinding',
  'mutatingadmissionpolicybindings',
)
export type ValidatingAdmissionPolicy = ObjectsOf<typeof validatingAdmissionPolicy>
export const ValidatingAdmissionPolicy = clusterWide<ValidatingAdmissionPolicy>(
  'admissionregistration/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
)
export type ValidatingAdmissionPolicyBinding = ObjectsOf<typeof validatingAdmissionPolicyBinding>
export const ValidatingAdmissionPolicyBinding = clusterWide<ValidatingAdmissionPolicyBinding>(
  'admissionregistration/v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
)
export type ValidatingAdmissionPolicyV1beta1 = ObjectsOf<typeof validatingAdmissionPolicyV1beta1>
export const ValidatingAdmissionPolicyV1beta1 = clusterWide<ValidatingAdmissionPolicyV1beta1>(
  'admissionregistration/v1beta1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
)
export type ValidatingAdmissionPolicyBindingV1beta1 = ObjectsOf<typeof validatingAdmissionPolicyBindingV1beta1>
export const ValidatingAdmissionPolicyBindingV1beta1 = clusterWide<ValidatingAdmissionPolicyBindingV1beta1>(
  'admissionregistration/v1beta1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
)
export type ValidatingWebhookConfigurationV1beta1 = ObjectsOf<typeof validatingWebhookConfigurationV1beta1>
export const ValidatingWebhookConfigurationV1beta1 = clusterWide<ValidatingWebhookConfigurationV1beta1>(
  'admissionregistration/v1beta1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)
export type CustomResourceDefinition = ObjectsOf<typeof customResourceDefinition>
export const CustomResourceDefinition = clusterWide<CustomResourceDefinition>(
  'apiextensions/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)
export type PriorityClass = ObjectsOf<typeof priorityClass>
export const PriorityClass = clusterWide<PriorityClass>('scheduling/v1', 'PriorityClass', 'priorityclasses')
export type Lease = ObjectsOf<typeof lease>
export const Lease = namespaced<Lease>('coordination/v1', 'Lease', 'leases')
export type LeaseCandidate = ObjectsOf<typeof leaseCandidate>
export const LeaseCandidate = namespaced<LeaseCandidate>('coordination/v1beta1', 'LeaseCandidate', 'leasecandidates')
export type RuntimeClass = ObjectsOf<typeof runtimeClass>
export const RuntimeClass = clusterWide<RuntimeClass>('node/v1', 'RuntimeClass', 'runtimeclasses')
export type RuntimeClassV1beta1 = ObjectsOf<typeof runtimeClassV1beta1>
export const RuntimeClassV1beta1 = clusterWide<RuntimeClassV1beta1>('node/v1beta1', 'RuntimeClass', 'runtimeclasses')
export type EndpointSlice = ObjectsOf<typeof endpointSlice>
export const EndpointSlice = namespaced<EndpointSlice>('discovery/v1', 'EndpointSlice', 'endpointslices')
export type EndpointSliceV1beta1 = ObjectsOf<typeof endpointSliceV1beta1>
export const EndpointSliceV1beta1 = namespaced<EndpointSliceV1beta1>(
  'discovery/v1beta1',
  'EndpointSlice',
  'endpointslices',
)
export type FlowSchemaV1 = ObjectsOf<typeof flowSchemaV1>
export const FlowSchemaV1 = clusterWide<FlowSchemaV1>('flowcontrol.apiserver/v1', 'FlowSchema', 'flowschemas')
export type PriorityLevelConfigurationV1 = ObjectsOf<typeof priorityLevelConfigurationV1>
export const PriorityLevelConfigurationV1 = clusterWide<PriorityLevelConfigurationV1>(
  'flowcontrol.apiserver/v1',
  'PriorityLevelConfiguration',
  'prioritylevelconfigurations',
)
export type FlowSchemaV1beta3 = ObjectsOf<typeof flowSchemaV1beta3>
export const FlowSchemaV1beta3 = clusterWide<FlowSchemaV1beta3>(
  'flowcontrol.apiserver/v1beta3',
  'FlowSchema',
  'flowschemas',
)
export type PriorityLevelConfigurationV1beta3 = ObjectsOf<typeof priorityLevelConfigurationV1beta3>
export const PriorityLevelConfigurationV1beta3 = clusterWide<PriorityLevelConfigurationV1beta3>(
  'flowcontrol.apiserver/v1beta3',
  'PriorityLevelConfiguration',
  'prioritylevelconfigurations',
)
export type FlowSchema = ObjectsOf<typeof flowSchema>
export const FlowSchema = clusterWide<FlowSchema>('flowcontrol.apiserver/v1beta2', 'FlowSchema', 'flowschemas')
export type PriorityLevelConfiguration = ObjectsOf<typeof priorityLevelConfiguration>
export const PriorityLevelConfiguration = clusterWide<PriorityLevelConfiguration>(
  'flowcontrol.apiserver/v1beta2',
  'PriorityLevelConfiguration',
  'prioritylevelconfigurations',
)
export type StorageVersionMigration = ObjectsOf<typeof storageVersionMigration>
export const StorageVersionMigration = clusterWide<StorageVersionMigration>(
  'storagemigration/v1beta1',
  'StorageVersionMigration',
  'storageversionmigrations',
)
export type FlowSchemaV1beta1 = ObjectsOf<typeof flowSchemaV1beta1>
export const FlowSchemaV1beta1 = clusterWide<FlowSchemaV1beta1>(
  'flowcontrol.apiserver/v1beta1',
  'FlowSchema',
  'flowschemas',
)
export type PriorityLevelConfigurationV1beta1 = ObjectsOf<typeof priorityLevelConfigurationV1beta1>
export const PriorityLevelConfigurationV1beta1 = clusterWide<PriorityLevelConfigurationV1beta1>(
  'flowcontrol.apiserver/v1beta1',
  'PriorityLevelConfiguration',
  'prioritylevelconfigurations',
)
export type AccessExplanation = ObjectsOf<typeof accessExplanation>
export const AccessExplanation = clusterWide<AccessExplanation>('ops/v1', 'AccessExplanation', 'accessexplanations')
export type CertificateDenyList = ObjectsOf<typeof certificateDenyList>
export const CertificateDenyList = clusterWide<CertificateDenyList>(
  'ops/v1',
  'CertificateDenyList',
  'certificatedenylists',
)
export type SimulationRule = ObjectsOf<typeof simulationRule>
export const SimulationRule = clusterWide<SimulationRule>('ops/v1', 'SimulationRule', 'simulationrules')
export type WhoAmI = ObjectsOf<typeof whoAmI>
export const WhoAmI = clusterWide<WhoAmI>('ops/v1', 'WhoAmI', 'whoamis')
export type WhoCan = ObjectsOf<typeof whoCan>
export const WhoCan = clusterWide<WhoCan>('ops/v1', 'WhoCan', 'whocans')
export type AdmissionControl = ObjectsOf<typeof admissionControl>
export const AdmissionControl = clusterWide<AdmissionControl>('ops/v1', 'AdmissionControl', 'admissioncontrols')
export type AdmissionWebhook = ObjectsOf<typeof admissionWebhook>
export const AdmissionWebhook = clusterWide<AdmissionWebhook>('ops/v1', 'AdmissionWebhook', 'admissionwebhooks')
export type AuditEvent = ObjectsOf<typeof auditEvent>
export const AuditEvent = clusterWide<AuditEvent>('ops/v1', 'AuditEvent', 'auditevents')
export type WebhookPreview = ObjectsOf<typeof webhookPreview>
export const WebhookPreview = clusterWide<WebhookPreview>('ops/v1', 'WebhookPreview', 'webhookpreviews')
export type PolicyReport = ObjectsOf<typeof policyReport>
export const PolicyReport = clusterWide<PolicyReport>('ops/v1', 'PolicyReport', 'policyreports')
export type DeletionExplanation = ObjectsOf<typeof deletionExplanation>
export const DeletionExplanation = clusterWide<DeletionExplanation>(
  'ops/v1',
  'DeletionExplanation',
  'deletionexplanations',
)
export type ObjectHistory = ObjectsOf<typeof objectHistory>
export const ObjectHistory = clusterWide<ObjectHistory>('ops/v1', 'ObjectHistory', 'objecthistories')
export type PastState = ObjectsOf<typeof pastState>
export const PastState = clusterWide<PastState>('ops/v1', 'PastState', 'paststates')

// The kinds of subresources, for calls such as `subresource<Scale>(Deployment, 'scale')`.
export type Eviction = ObjectsOf<typeof eviction>
export type Scale = ObjectsOf<typeof scale>
export type TokenRequest = ObjectsOf<typeof tokenRequest>
