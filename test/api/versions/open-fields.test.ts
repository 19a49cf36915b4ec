/**
 * Tests that docs/reference/fields-without-rules.md lists the fields of later versions whose rules are not implemented.
 * ORCH_WRITE_DOCS=1 rewrites the page.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { allKinds } from '../../../src/api/kinds/all.ts'
import type { Field, Schema } from '../../../src/api/schema/schema.ts'
import { homeOf } from '../../../src/apiserver/http/openapi/group-version.ts'

/** Admission. */
const builtForAdmission = ['v1', 'v1beta1'].flatMap((version) =>
  ['MutatingWebhook', 'ValidatingWebhook'].map((type) => `admissionregistration.${version}.${type}.matchConditions`),
)

/**
 * Fields that later versions added to network and storage kinds, and whose rules are implemented. All types of the
 * group `resource` are complete.
 */
const builtForNetworkAndStorage = [
  'coordination.v1.LeaseSpec.preferredHolder',
  'coordination.v1.LeaseSpec.strategy',
  'core.v1.NodeRuntimeHandlerFeatures.userNamespaces',
  'core.v1.NodeStatus.declaredFeatures',
  'core.v1.NodeStatus.features',
  'core.v1.NodeStatus.runtimeHandlers',
  'core.v1.NodeSystemInfo.swap',
  'core.v1.CSIPersistentVolumeSource.nodeExpandSecretRef',
  'core.v1.LoadBalancerIngress.ipMode',
  'core.v1.PersistentVolumeClaimSpec.volumeAttributesClassName',
  'core.v1.PersistentVolumeClaimStatus.allocatedResourceStatuses',
  'core.v1.PersistentVolumeClaimStatus.currentVolumeAttributesClassName',
  'core.v1.PersistentVolumeClaimStatus.modifyVolumeStatus',
  'core.v1.PersistentVolumeSpec.volumeAttributesClassName',
  'core.v1.PersistentVolumeStatus.lastPhaseTransitionTime',
  'core.v1.ServiceSpec.trafficDistribution',
  'discovery.v1.EndpointHints.forNodes',
  'discovery.v1beta1.EndpointHints.forNodes',
  'networking.v1.NetworkPolicy.status',
  'storage.v1.CSIDriverSpec.nodeAllocatableUpdatePeriodSeconds',
  'storage.v1.CSIDriverSpec.preventPodSchedulingIfMissing',
  'storage.v1.CSIDriverSpec.seLinuxMount',
  'storage.v1.CSIDriverSpec.serviceAccountTokenInSecrets',
  'storage.v1.VolumeError.errorCode',
]

/** Workloads. */
const builtForWorkloads = [
  'apps.v1.DeploymentStatus.terminatingReplicas',
  'apps.v1.ReplicaSetStatus.terminatingReplicas',
  'apps.v1.RollingUpdateStatefulSetStrategy.maxUnavailable',
  'apps.v1.StatefulSetSpec.ordinals',
  'autoscaling.v2.HPAScalingRules.tolerance',
  'autoscaling.v2beta2.HPAScalingRules.tolerance',
  'batch.v1.CronJobSpec.timeZone',
  'batch.v1.JobSpec.backoffLimitPerIndex',
  'batch.v1.JobSpec.managedBy',
  'batch.v1.JobSpec.maxFailedIndexes',
  'batch.v1.JobSpec.podFailurePolicy',
  'batch.v1.JobSpec.podReplacementPolicy',
  'batch.v1.JobSpec.successPolicy',
  'batch.v1.JobStatus.failedIndexes',
  'batch.v1.JobStatus.terminating',
  'batch.v1beta1.CronJobSpec.timeZone',
  'policy.v1.PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy',
]

/** Pods. */
const builtForPods = [
  'Container.resizePolicy',
  'Container.restartPolicy',
  'Container.restartPolicyRules',
  'ContainerStatus.allocatedResources',
  'ContainerStatus.allocatedResourcesStatus',
  'ContainerStatus.resources',
  'ContainerStatus.stopSignal',
  'ContainerStatus.user',
  'ContainerStatus.volumeMounts',
  'EnvVarSource.fileKeyRef',
  'EphemeralContainer.resizePolicy',
  'EphemeralContainer.restartPolicy',
  'EphemeralContainer.restartPolicyRules',
  'Lifecycle.stopSignal',
  'LifecycleHandler.sleep',
  'PodAffinityTerm.matchLabelKeys',
  'PodAffinityTerm.mismatchLabelKeys',
  'PodCondition.observedGeneration',
  'PodResourceClaim.resourceClaimName',
  'PodResourceClaim.resourceClaimTemplateName',
  'PodSecurityContext.appArmorProfile',
  'PodSecurityContext.seLinuxChangePolicy',
  'PodSecurityContext.supplementalGroupsPolicy',
  'PodCertificateProjection.userAnnotations',
  'PodSpec.hostUsers',
  'PodSpec.hostnameOverride',
  'PodSpec.resourceClaims',
  'PodSpec.resources',
  'PodSpec.schedulingGates',
  'PodSpec.schedulingGroup',
  'PodSpec.workloadRef',
  'PodStatus.allocatedResources',
  'PodStatus.extendedResourceClaimStatus',
  'PodStatus.hostIPs',
  'PodStatus.nodeAllocatableResourceClaimStatuses',
  'PodStatus.observedGeneration',
  'PodStatus.resize',
  'PodStatus.resourceClaimStatuses',
  'PodStatus.resources',
  'ResourceClaim.request',
  'ResourceHealth.message',
  'ResourceRequirements.claims',
  'SecurityContext.appArmorProfile',
  'TopologySpreadConstraint.matchLabelKeys',
  'TopologySpreadConstraint.minDomains',
  'TopologySpreadConstraint.nodeAffinityPolicy',
  'TopologySpreadConstraint.nodeTaintsPolicy',
  'Volume.image',
  'VolumeMount.recursiveReadOnly',
  'VolumeMountStatus.volumeStatus',
  'VolumeProjection.clusterTrustBundle',
  'VolumeProjection.podCertificate',
].map((name) => `core.v1.${name}`)

const builtForFlowControl = ['v1', 'v1beta1', 'v1beta2', 'v1beta3'].flatMap((version) =>
  [
    'LimitedPriorityLevelConfiguration.borrowingLimitPercent',
    'LimitedPriorityLevelConfiguration.lendablePercent',
    'PriorityLevelConfigurationSpec.exempt',
  ].map((name) => `flowcontrol.${version}.${name}`),
)

/**
 * Fields of definitions, access reviews and certificates. Unlike Kubernetes, the server never sets an observed
 * generation.
 */
const builtForOthers = [
  'apiextensions.v1.CustomResourceDefinitionCondition.observedGeneration',
  'apiextensions.v1.CustomResourceDefinitionStatus.observedGeneration',
  'apiextensions.v1.CustomResourceDefinitionVersion.selectableFields',
  'authorization.v1.ResourceAttributes.fieldSelector',
  'authorization.v1.ResourceAttributes.labelSelector',
  'certificates.v1beta1.PodCertificateRequestSpec.stubPKCS10Request',
]

/** Fields, for example `core.v1.PodSpec.hostUsers`, whose defaults, validation and update rules are implemented. */
const built: ReadonlySet<string> = new Set([
  ...builtForAdmission,
  ...builtForWorkloads,
  ...builtForPods,
  ...builtForNetworkAndStorage,
  ...builtForFlowControl,
  ...builtForOthers,
])

const page = join(import.meta.dirname, '../../../docs/reference/fields-without-rules.md')

interface LaterField {
  readonly name: string
  readonly field: Field
}

/** Adds all fields that have `since`, both in the schema and in the schemas that it contains. */
function addLater(schema: Schema, home: string, found: Map<string, LaterField>, seen = new Set<Schema>()): void {
  if (seen.has(schema)) return
  seen.add(schema)
  if (schema.type === 'list') addLater(schema.items, home, found, seen)
  if (schema.type === 'map') addLater(schema.values, home, found, seen)
  if (schema.type !== 'object') return
  const name = schema.name?.includes('.') ? schema.name : `${home}.${schema.name}`
  const inner = name.slice(0, name.lastIndexOf('.'))
  for (const [each, field] of Object.entries(schema.fields)) {
    if (field.since !== undefined) found.set(`${name}.${each}`, { name: `${name}.${each}`, field })
    addLater(field.schema, inner, found, seen)
  }
}

function writePage(): string {
  const found = new Map<string, LaterField>()
  for (const kind of allKinds) addLater(kind.schema, homeOf(kind), found)
  const rows = [...found.values()]
    .filter(({ name }) => !built.has(name) && !name.startsWith('resource.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, field: { since, until, gate } }) => {
      return `| \`${name}\` | ${since} | ${until ?? ''} | ${gate === undefined ? '' : JSON.stringify(gate).replaceAll('"', '')} |`
    })
  const table = ['| field | since | until | gate |', '| --- | --- | --- | --- |', ...rows].join('\n')
  return `# Fields without rules

This page lists the fields of later Kubernetes versions that the server stores and serves, but does not validate or
default as Kubernetes does. The test \`test/api/versions/open-fields.test.ts\` generates this page.

${rows.length === 0 ? 'Currently, there are no fields without rules.' : table}
`
}

test('the documentation page about fields without validation rules is up to date', () => {
  const text = writePage()
  if (process.env.ORCH_WRITE_DOCS) writeFileSync(page, text)
  assert.equal(readFileSync(page, 'utf8'), text, 'run ORCH_WRITE_DOCS=1 npm test -- open-fields')
})
