/**
 * The only complete list of kind definitions. Clients use the names and types in `client/requests/built-in-kinds.ts`
 * instead, so that their bundles do not contain the definitions. The first version of each group in this list is the
 * preferred version.
 */
import type { Kind } from '../schema/kind.ts'
import {
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyV1beta1,
} from './admissionregistration/mutating-admission-policy.ts'
import {
  mutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicyBindingV1beta1,
} from './admissionregistration/mutating-admission-policy-binding.ts'
import {
  mutatingWebhookConfiguration,
  mutatingWebhookConfigurationV1beta1,
} from './admissionregistration/mutating-webhook-configuration.ts'
import {
  validatingAdmissionPolicy,
  validatingAdmissionPolicyV1beta1,
} from './admissionregistration/validating-admission-policy.ts'
import {
  validatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindingV1beta1,
} from './admissionregistration/validating-admission-policy-binding.ts'
import {
  validatingWebhookConfiguration,
  validatingWebhookConfigurationV1beta1,
} from './admissionregistration/validating-webhook-configuration.ts'
import { customResourceDefinition } from './apiextensions/custom-resource-definition.ts'
import { apiService } from './apiregistration/api-service.ts'
import { controllerRevision } from './apps/controller-revision.ts'
import { daemonSet } from './apps/daemon-set.ts'
import { deployment } from './apps/deployment.ts'
import { replicaSet } from './apps/replica-set.ts'
import { statefulSet } from './apps/stateful-set.ts'
import { selfSubjectReview, selfSubjectReviewV1beta1 } from './authentication/self-subject-review.ts'
import { tokenReview } from './authentication/token-review.ts'
import { selfSubjectAccessReview } from './authorization/self-subject-access-review.ts'
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review.ts'
import { localSubjectAccessReview, subjectAccessReview } from './authorization/subject-access-review.ts'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscalerV1 } from './autoscaling/horizontal-pod-autoscaler-v1.ts'
import { horizontalPodAutoscalerV2beta1 } from './autoscaling/horizontal-pod-autoscaler-v2beta1.ts'
import { horizontalPodAutoscalerV2beta2 } from './autoscaling/horizontal-pod-autoscaler-v2beta2.ts'
import { cronJob, cronJobV1beta1 } from './batch/cron-job.ts'
import { job } from './batch/job.ts'
import { certificateSigningRequest } from './certificates/certificate-signing-request.ts'
import { clusterTrustBundle } from './certificates/cluster-trust-bundle.ts'
import { podCertificateRequest } from './certificates/pod-certificate-request.ts'
import { lease } from './coordination/lease.ts'
import { leaseCandidate } from './coordination/lease-candidate.ts'
import { binding } from './core/binding.ts'
import { componentStatus } from './core/component-status.ts'
import { configMap } from './core/config-map.ts'
import { endpoints } from './core/endpoints.ts'
import { event } from './core/event.ts'
import { limitRange } from './core/limit-range.ts'
import { namespace } from './core/namespace.ts'
import { node } from './core/node.ts'
import { persistentVolume } from './core/persistent-volume.ts'
import { persistentVolumeClaim } from './core/persistent-volume-claim.ts'
import { pod } from './core/pod.ts'
import { podTemplate } from './core/pod-template.ts'
import { replicationController } from './core/replication-controller.ts'
import { resourceQuota } from './core/resource-quota.ts'
import { secret } from './core/secret.ts'
import { service } from './core/service.ts'
import { serviceAccount } from './core/service-account.ts'
import { endpointSlice } from './discovery/endpoint-slice.ts'
import { endpointSliceV1beta1 } from './discovery/endpoint-slice-v1beta1.ts'
import { eventV1, eventV1beta1 } from './events/event.ts'
import { flowSchema, flowSchemaV1, flowSchemaV1beta1, flowSchemaV1beta3 } from './flowcontrol/flow-schema.ts'
import {
  priorityLevelConfiguration,
  priorityLevelConfigurationV1beta1,
} from './flowcontrol/priority-level-configuration.ts'
import {
  priorityLevelConfigurationV1,
  priorityLevelConfigurationV1beta3,
} from './flowcontrol/priority-level-configuration-v1.ts'
import { ingress } from './networking/ingress.ts'
import { ingressClass } from './networking/ingress-class.ts'
import { ipAddress, ipAddressV1beta1 } from './networking/ip-address.ts'
import { networkPolicy } from './networking/network-policy.ts'
import { serviceCidr, serviceCidrV1beta1 } from './networking/service-cidr.ts'
import { runtimeClass, runtimeClassV1beta1 } from './node/runtime-class.ts'
import { accessExplanation } from './ops/access-explanation.ts'
import { admissionControl } from './ops/admission-control.ts'
import { admissionWebhook } from './ops/admission-webhook.ts'
import { auditEvent } from './ops/audit-event.ts'
import { certificateDenyList } from './ops/certificate-deny-list.ts'
import { deletionExplanation } from './ops/deletion-explanation.ts'
import { objectHistory } from './ops/object-history.ts'
import { pastState } from './ops/past-state.ts'
import { policyReport } from './ops/policy-report.ts'
import { simulationRule } from './ops/simulation-rule.ts'
import { webhookPreview } from './ops/webhook-preview.ts'
import { whoAmI } from './ops/who-am-i.ts'
import { whoCan } from './ops/who-can.ts'
import { podDisruptionBudget, podDisruptionBudgetV1beta1 } from './policy/pod-disruption-budget.ts'
import { podSecurityPolicy } from './policy/pod-security-policy.ts'
import { clusterRole } from './rbac/cluster-role.ts'
import { clusterRoleBinding } from './rbac/cluster-role-binding.ts'
import { role } from './rbac/role.ts'
import { roleBinding } from './rbac/role-binding.ts'
import { deviceClass, deviceClassV1beta2 } from './resource/device-class.ts'
import { deviceTaintRule } from './resource/device-taint-rule.ts'
import { resourceClaim, resourceClaimV1beta2 } from './resource/resource-claim.ts'
import { resourceClaimTemplate, resourceClaimTemplateV1beta2 } from './resource/resource-claim-template.ts'
import { resourceSlice, resourceSliceV1beta2 } from './resource/resource-slice.ts'
import {
  deviceClassV1beta1,
  resourceClaimTemplateV1beta1,
  resourceClaimV1beta1,
  resourceSliceV1beta1,
} from './resource/v1beta1.ts'
import { priorityClass } from './scheduling/priority-class.ts'
import { csiDriver } from './storage/csi-driver.ts'
import { csiNode } from './storage/csi-node.ts'
import { csiStorageCapacity, csiStorageCapacityV1 } from './storage/csi-storage-capacity.ts'
import { storageClass } from './storage/storage-class.ts'
import { volumeAttachment } from './storage/volume-attachment.ts'
import { volumeAttributesClass, volumeAttributesClassV1beta1 } from './storage/volume-attributes-class.ts'
import { storageVersionMigration } from './storagemigration/storage-version-migration.ts'

/** All versions of all built-in kinds. */
export const allKinds: readonly Kind[] = [
  binding,
  componentStatus,
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolumeClaim,
  persistentVolume,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  serviceAccount,
  service,
  apiService,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  eventV1,
  eventV1beta1,
  selfSubjectReview,
  selfSubjectReviewV1beta1,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  horizontalPodAutoscaler,
  horizontalPodAutoscalerV1,
  horizontalPodAutoscalerV2beta1,
  horizontalPodAutoscalerV2beta2,
  cronJob,
  job,
  cronJobV1beta1,
  certificateSigningRequest,
  clusterTrustBundle,
  podCertificateRequest,
  ingressClass,
  ingress,
  ipAddress,
  networkPolicy,
  serviceCidr,
  ipAddressV1beta1,
  serviceCidrV1beta1,
  podDisruptionBudget,
  podDisruptionBudgetV1beta1,
  podSecurityPolicy,
  clusterRoleBinding,
  clusterRole,
  roleBinding,
  role,
  csiDriver,
  csiNode,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
  volumeAttributesClassV1beta1,
  csiStorageCapacityV1,
  csiStorageCapacity,
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
  mutatingWebhookConfigurationV1beta1,
  validatingWebhookConfigurationV1beta1,
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicyV1beta1,
  mutatingAdmissionPolicyBindingV1beta1,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingAdmissionPolicyV1beta1,
  validatingAdmissionPolicyBindingV1beta1,
  customResourceDefinition,
  priorityClass,
  lease,
  leaseCandidate,
  runtimeClass,
  runtimeClassV1beta1,
  endpointSlice,
  endpointSliceV1beta1,
  deviceClass,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  deviceClassV1beta2,
  resourceClaimV1beta2,
  resourceClaimTemplateV1beta2,
  resourceSliceV1beta2,
  deviceTaintRule,
  deviceClassV1beta1,
  resourceClaimV1beta1,
  resourceClaimTemplateV1beta1,
  resourceSliceV1beta1,
  flowSchemaV1,
  priorityLevelConfigurationV1,
  flowSchemaV1beta3,
  priorityLevelConfigurationV1beta3,
  flowSchema,
  priorityLevelConfiguration,
  flowSchemaV1beta1,
  priorityLevelConfigurationV1beta1,
  storageVersionMigration,
  accessExplanation,
  certificateDenyList,
  simulationRule,
  whoAmI,
  whoCan,
  admissionControl,
  admissionWebhook,
  auditEvent,
  webhookPreview,
  policyReport,
  deletionExplanation,
  objectHistory,
  pastState,
]
