/**
 * Generates field values for random objects. The values follow rules that a schema cannot express: valid names, bounded
 * numbers and consistent fields.
 */
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { requestPem } from '../pki/encode.ts'
import {
  address,
  annotations,
  dataKey,
  fileName,
  fullSecret,
  id,
  keepOne,
  labels,
  labelValue,
  maybe,
  mode,
  modes,
  namedSecret,
  none,
  oneOf,
  port,
  portName,
  qualified,
  small,
  some,
  subdomain,
  table,
  variable,
  word,
} from './makers.ts'
import { freeText, type MakeField, type Making, type ValidValues } from './random-object.ts'
import { definitionFields, definitionsAgree, definitionsNeeded } from './valid-definitions.ts'
import { groupValues } from './valid-group-values.ts'
import { workloadValues } from './workload-values.ts'

const resourceAmounts: MakeField = (making) => {
  const limits: JsonObject = { cpu: making.pick(['1', '500m']), memory: making.pick(['1Gi', '1k']) }
  if (making.chance(0.3)) limits['example.com/gpu'] = '2'
  if (making.chance(0.2)) limits['hugepages-2Mi'] = '4Mi'
  const requests: JsonObject = { cpu: making.pick(['0', '100m', '500m']), 'ephemeral-storage': '1Mi' }
  return making.pick([{}, { limits }, { requests }, { limits, requests }])
}

const fieldsOfPods = ['metadata.name', 'metadata.namespace', 'metadata.uid', "metadata.labels['a.b/c']"]
const resourceRef: MakeField = (making) => ({
  containerName: word(making)!,
  resource: making.pick(['limits.cpu', 'requests.memory', 'limits.ephemeral-storage', 'requests.hugepages-2Mi']),
  divisor: making.pick(['0', '1']),
})
const fieldRef = (...more: readonly string[]): MakeField => {
  return ({ pick }) => ({ apiVersion: 'v1', fieldPath: pick([...fieldsOfPods, ...more]) })
}

const containers: ValidValues['fields'] = {
  'Container.name': word,
  'Container.image': oneOf(
    'app',
    'app:v1',
    'reg.example:5000/team/app:latest',
    `app@sha256:${'0'.repeat(64)}`,
    'ODD//image',
  ),
  'Container.resources': resourceAmounts,
  'Container.volumeMounts': none,
  'Container.volumeDevices': none,
  'Container.terminationMessagePolicy': maybe(oneOf('File', 'FallbackToLogsOnError')),
  'ContainerPort.name': maybe(portName),
  'ContainerPort.containerPort': port,
  'ContainerPort.hostPort': maybe(port),
  'EnvVar.name': variable,
  'ObjectFieldSelector.apiVersion': oneOf('v1'),
  'EnvVarSource.fieldRef': maybe(
    fieldRef('spec.nodeName', 'spec.serviceAccountName', 'status.hostIP', 'status.podIPs'),
  ),
  'EnvVarSource.resourceFieldRef': maybe(resourceRef),
  'ConfigMapKeySelector.name': subdomain,
  'ConfigMapKeySelector.key': dataKey,
  'SecretKeySelector.name': subdomain,
  'SecretKeySelector.key': dataKey,
  'ConfigMapEnvSource.name': subdomain,
  'SecretEnvSource.name': subdomain,
  'EnvFromSource.prefix': maybe(variable),
  'ExecAction.command': some(freeText),
  'HTTPGetAction.port': (making) => making.pick([port(making)!, portName(making)!]),
  'HTTPHeader.name': oneOf('X-Header', 'a', '0'),
  'TCPSocketAction.port': (making) => making.pick([port(making)!, portName(making)!]),
  'GRPCAction.port': port,
  'Probe.terminationGracePeriodSeconds': none,
  'Probe.successThreshold': maybe(oneOf(1)),
  'SecurityContext.runAsUser': maybe(id),
  'SecurityContext.runAsGroup': maybe(id),
  'SecurityContext.procMount': maybe(oneOf('Default')),
  'PodSecurityContext.runAsUser': maybe(id),
  'PodSecurityContext.runAsGroup': maybe(id),
  'PodSecurityContext.fsGroup': maybe(id),
  'PodSecurityContext.supplementalGroups': maybe(some(id)),
  'Sysctl.name': ({ count }) => `kernel.shm_rmid-forced.x${count()}`,
  'WindowsSecurityContextOptions.gmsaCredentialSpecName': maybe(subdomain),
  'WindowsSecurityContextOptions.runAsUserName': maybe(oneOf('ContainerUser', 'DOMAIN\\user name')),
  'WindowsSecurityContextOptions.gmsaCredentialSpec': maybe(freeText),
  'WindowsSecurityContextOptions.hostProcess': none,
}

const toleration: MakeField = (making) => {
  const exists = making.chance(0.5)
  const effect = making.pick(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
  return {
    ...(exists ? { operator: 'Exists' } : { key: qualified(making)!, value: labelValue(making)! }),
    effect,
    ...(effect === 'NoExecute' ? { tolerationSeconds: making.pick([0, -1, 300]) } : {}),
  }
}

const requirement: MakeField = (making) =>
  making.pick<JsonObject>([
    { key: qualified(making)!, operator: 'In', values: ['a', 'b c'] },
    { key: qualified(making)!, operator: 'Exists' },
    { key: qualified(making)!, operator: 'Gt', values: ['5'] },
  ])
const labelRequirement: MakeField = (making) =>
  making.pick<JsonObject>([
    { key: qualified(making)!, operator: 'NotIn', values: ['a'] },
    { key: qualified(making)!, operator: 'DoesNotExist' },
  ])

const scheduling: ValidValues['fields'] = {
  'NodeSelector.nodeSelectorTerms': some((making) => ({
    matchExpressions: some(requirement)(making)!,
    matchFields: [{ key: 'metadata.name', operator: making.pick(['In', 'NotIn']), values: [subdomain(making)!] }],
  })),
  'NodeSelectorTerm.matchExpressions': maybe(some(requirement)),
  'NodeSelectorTerm.matchFields': none,
  'PreferredSchedulingTerm.weight': oneOf(1, 100),
  'WeightedPodAffinityTerm.weight': oneOf(1, 100),
  'WeightedPodAffinityTerm.podAffinityTerm': (making) => ({
    topologyKey: qualified(making)!,
    namespaces: [word(making)!],
  }),
  'PodAffinityTerm.topologyKey': qualified,
  'PodAffinityTerm.namespaces': maybe(some(word)),
  'LabelSelector.matchLabels': labels,
  'LabelSelector.matchExpressions': maybe(some(labelRequirement)),
  'TopologySpreadConstraint.maxSkew': oneOf(1, 5),
  'TopologySpreadConstraint.topologyKey': qualified,
  'TopologySpreadConstraint.whenUnsatisfiable': oneOf('DoNotSchedule', 'ScheduleAnyway'),
  'TopologySpreadConstraint.labelSelector': maybe(oneOf({}, { matchLabels: { 'not a key': '?' } })),
  'PodSpec.tolerations': maybe(some(toleration, 3)),
}

const pods: ValidValues['fields'] = {
  'PodSpec.ephemeralContainers': none,
  'PodSpec.os': none,
  'PodSpec.activeDeadlineSeconds': maybe(oneOf(1, 2 ** 31 - 1)),
  'PodSpec.terminationGracePeriodSeconds': maybe(oneOf(0, 5, 2 ** 31)),
  'PodSpec.nodeSelector': labels,
  'PodSpec.nodeName': maybe(subdomain),
  'PodSpec.hostname': maybe(word),
  'PodSpec.subdomain': maybe(word),
  'PodSpec.serviceAccountName': maybe(subdomain),
  'PodSpec.priorityClassName': maybe(subdomain),
  'PodSpec.runtimeClassName': maybe(subdomain),
  'PodSpec.overhead': maybe(oneOf({ cpu: '250m' }, { memory: '1Mi', cpu: '0' })),
  'HostAlias.ip': address,
  'HostAlias.hostnames': maybe(some(subdomain)),
  'PodDNSConfig.nameservers': some(address, 3),
  'PodDNSConfig.searches': maybe(some((making) => `${subdomain(making)}${making.pick(['', '.'])}`)),
  'PodDNSConfigOption.name': oneOf('ndots', 'a b'),
  'PodReadinessGate.conditionType': qualified,
  'PodStatus.podIP': none,
  'PodStatus.podIPs': maybe(oneOf([{ ip: '10.0.0.1' }], [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }])),
  'PodStatus.nominatedNodeName': maybe(subdomain),
  'PodCondition.type': qualified,
  'PodTemplateSpec.metadata': (making) => ({
    labels: labels(making) ?? null,
    annotations: annotations(making) ?? null,
    name: freeText(making),
    finalizers: [freeText(making)],
  }),
  'Volume.name': word,
}

const claimSpec: MakeField = (making) => ({
  accessModes: modes(making)!,
  resources: { requests: { storage: making.pick(['1Gi', '1500m']) } },
  volumeName: freeText(making),
  storageClassName: making.pick(['', 'fast.example.com']),
  volumeMode: making.pick(['Block', 'Filesystem']),
  selector: { matchLabels: { a: 'b' } },
  ...making.pick<JsonObject>([
    {},
    { dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } },
    { dataSource: { apiGroup: 'a', kind: 'B', name: 'c' } },
  ]),
})

const volumes: ValidValues['fields'] = {
  'HostPathVolumeSource.path': oneOf('/', '/var/lib', 'relative', '/a..b'),
  'HostPathVolumeSource.type': maybe(oneOf('', 'Directory', 'FileOrCreate', 'BlockDevice')),
  'GitRepoVolumeSource.directory': maybe(fileName),
  'GCEPersistentDiskVolumeSource.partition': maybe(small),
  // Several replicas can share the disk only if the disk is read-only.
  'GCEPersistentDiskVolumeSource.readOnly': oneOf(true),
  'AWSElasticBlockStoreVolumeSource.partition': maybe(small),
  'KeyToPath.path': fileName,
  'KeyToPath.mode': maybe(mode),
  'SecretVolumeSource.defaultMode': maybe(mode),
  'ConfigMapVolumeSource.defaultMode': maybe(mode),
  'DownwardAPIVolumeSource.defaultMode': maybe(mode),
  'ProjectedVolumeSource.defaultMode': maybe(mode),
  'DownwardAPIVolumeFile.path': fileName,
  'DownwardAPIVolumeFile.mode': maybe(mode),
  'DownwardAPIVolumeFile.fieldRef': fieldRef('metadata.annotations', 'metadata.labels'),
  'DownwardAPIVolumeFile.resourceFieldRef': resourceRef,
  'ServiceAccountTokenProjection.path': fileName,
  'ServiceAccountTokenProjection.expirationSeconds': maybe(oneOf(600, 2 ** 32), 0.8),
  'ConfigMapProjection.optional': maybe(oneOf(true, false), 0.8),
  'NFSVolumeSource.path': oneOf('/', '/a/../b'),
  'QuobyteVolumeSource.registry': oneOf('a:1', 'a:1,[::1]:2'),
  'ISCSIVolumeSource.lun': small,
  'ISCSIVolumeSource.iqn': oneOf('iqn.2001-04.com.example:storage', 'eui.0123456789abcdef'),
  'ISCSIVolumeSource.initiatorName': maybe(oneOf('iqn.2001-04.com.example:me')),
  'ISCSIVolumeSource.secretRef': (making) => ({ name: word(making)! }),
  'ISCSIPersistentVolumeSource.lun': small,
  'ISCSIPersistentVolumeSource.targetPortal': oneOf('10.0.0.1:3260'),
  'ISCSIPersistentVolumeSource.iqn': oneOf(`naa.${'0'.repeat(32)}`),
  'ISCSIPersistentVolumeSource.initiatorName': maybe(oneOf('iqn.2001-04.com.example:me')),
  'ISCSIPersistentVolumeSource.secretRef': (making) => ({ name: word(making)! }),
  'FCVolumeSource.lun': small,
  'FlexVolumeSource.options': maybe(table(qualified, freeText)),
  'FlexPersistentVolumeSource.options': maybe(table(qualified, freeText)),
  'CinderVolumeSource.secretRef': namedSecret,
  'StorageOSVolumeSource.secretRef': namedSecret,
  'StorageOSVolumeSource.volumeName': word,
  'StorageOSVolumeSource.volumeNamespace': maybe(word),
  'CinderPersistentVolumeSource.secretRef': fullSecret,
  'StorageOSPersistentVolumeSource.secretRef': fullSecret,
  'StorageOSPersistentVolumeSource.volumeName': word,
  'StorageOSPersistentVolumeSource.volumeNamespace': maybe(word),
  'CSIVolumeSource.driver': oneOf('csi.example.com', 'Upper.Case'),
  'CSIVolumeSource.nodePublishSecretRef': namedSecret,
  'CSIPersistentVolumeSource.driver': oneOf('csi.example.com', 'Upper.Case'),
  ...Object.fromEntries(
    ['controllerPublish', 'nodeStage', 'nodePublish', 'controllerExpand'].map((use) => [
      `CSIPersistentVolumeSource.${use}SecretRef`,
      maybe((making) => ({ name: word(making)!, namespace: word(making)! })),
    ]),
  ),
  'AzureFilePersistentVolumeSource.secretNamespace': maybe(word),
  'GlusterfsPersistentVolumeSource.endpointsNamespace': maybe(word),
  'EphemeralVolumeSource.volumeClaimTemplate': (making) => ({
    metadata: { labels: labels(making) ?? null },
    spec: claimSpec(making)!,
  }),
  'LocalVolumeSource.path': oneOf('/mnt/a', 'b'),
  'PersistentVolumeSpec.capacity': oneOf({ storage: '1Gi' }, { storage: '1500m' }),
  'PersistentVolumeSpec.accessModes': modes,
  'PersistentVolumeSpec.storageClassName': maybe(subdomain),
  'PersistentVolumeSpec.persistentVolumeReclaimPolicy': maybe(oneOf('Retain', 'Delete')),
  'VolumeNodeAffinity.required': (making) => ({ nodeSelectorTerms: [{ matchExpressions: [requirement(making)!] }] }),
}

const target: MakeField = (making) =>
  making.pick([
    { type: 'AverageValue', averageValue: '1k' },
    { type: 'AverageValue', averageValue: '100m' },
  ])
const scaled: MakeField = (making) => ({ kind: 'Deployment', name: word(making)!, apiVersion: 'apps/v1' })
const metric: MakeField = (making) => {
  const named = {
    name: word(making)!,
    ...making.pick<JsonObject>([{}, { selector: {} }, { selector: { matchLabels: { a: 'b' } } }]),
  }
  const byUse = { type: 'Utilization', averageUtilization: 1 + making.below(150) }
  return making.pick<JsonObject>([
    {
      type: 'Resource',
      resource: { name: making.pick(['cpu', 'memory', 'odd']), target: making.pick([byUse, target(making)!]) },
    },
    { type: 'Pods', pods: { metric: named, target: target(making)! } },
    {
      type: 'Object',
      object: {
        metric: named,
        describedObject: scaled(making)!,
        // Earlier versions return an unset value as 0, which clients must not send back. The target therefore always
        // has a value.
        target: making.pick([
          { ...(target(making) as JsonObject), value: '10' },
          { type: 'Value', value: '10' },
        ]),
      },
    },
    {
      type: 'External',
      external: { metric: named, target: making.pick([target(making)!, { type: 'Value', value: '3' }]) },
    },
  ])
}
/** Generates a metric in the flat format of v2beta1. */
const flatMetric: MakeField = (making) => {
  const named = { metricName: word(making)! }
  const perPod = { targetAverageValue: making.pick(['1k', '100m']) }
  const selector = making.pick<JsonObject>([{}, { matchLabels: { a: 'b' } }])
  return making.pick<JsonObject>([
    { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 1 + making.below(150) } },
    { type: 'Resource', resource: { name: 'memory', ...perPod } },
    { type: 'Pods', pods: { ...named, ...perPod, selector } },
    { type: 'Object', object: { ...named, target: scaled(making)!, targetValue: '10', selector, averageValue: '3' } },
    { type: 'External', external: { ...named, metricSelector: selector, ...perPod } },
    { type: 'External', external: { ...named, targetValue: '5' } },
  ])
}
const rules = maybe((making) => ({
  selectPolicy: making.pick(['Max', 'Min', 'Disabled']),
  stabilizationWindowSeconds: making.pick([0, 300, 3600]),
  policies: [
    { type: making.pick(['Pods', 'Percent']), value: 1 + making.below(9), periodSeconds: making.pick([1, 1800]) },
  ],
}))

const services: ValidValues['fields'] = {
  'ServicePort.targetPort': maybe((making) => making.pick([port(making)!, portName(making)!])),
  'ServicePort.appProtocol': maybe(qualified),
  'ServicePort.nodePort': maybe(({ below }) => 1 + below(65535)),
  'ServiceSpec.selector': maybe(table(qualified, labelValue)),
  'ServiceSpec.clusterIP': maybe(oneOf('None'), 0.2),
  'ServiceSpec.clusterIPs': maybe(oneOf(['None']), 0.3),
  'ServiceSpec.externalIPs': maybe(some(address)),
  'ServiceSpec.loadBalancerSourceRanges': maybe(some(oneOf('10.0.0.0/8', 'fd00::/64'))),
  'ServiceSpec.loadBalancerClass': maybe(qualified),
  'ServiceSpec.externalName': subdomain,
  'ServiceSpec.healthCheckNodePort': none,
  'ServiceSpec.ipFamilyPolicy': maybe(oneOf('SingleStack', 'PreferDualStack')),
  'ServiceSpec.ipFamilies': maybe(oneOf(['IPv4'])),
  'ClientIPConfig.timeoutSeconds': maybe(oneOf(1, 86400)),
  'LoadBalancerIngress.ip': maybe(address),
  'LoadBalancerIngress.hostname': maybe(subdomain),
}

/** Moves the CPU utilization metric to the end of the list, as the server does. */
function processorsLast(make: MakeField): MakeField {
  const isOfProcessors = (metric: Json) =>
    /"name":"cpu"/.test(JSON.stringify(metric)) && /[aA]verageUtilization/.test(JSON.stringify(metric))
  return (making) => {
    const metrics = make(making) as Json[]
    return [...metrics.filter((each) => !isOfProcessors(each)), ...metrics.filter(isOfProcessors)]
  }
}

const others: ValidValues['fields'] = {
  'ConfigMap.data': maybe(table(dataKey, freeText)),
  'ConfigMap.binaryData': maybe(table(dataKey, oneOf('', 'AA==', '/+8='))),
  'Secret.data': maybe(table(dataKey, oneOf('', 'AA==', '/+8='))),
  'Secret.stringData': none,
  'Secret.type': maybe(oneOf('Opaque', 'example.com/mine', '{}')),
  'NamespaceSpec.finalizers': maybe(oneOf(['example.com/a'], ['orch', 'example.com/b'])),
  'NamespaceStatus.phase': oneOf('Active'),
  'Event.involvedObject': (making) => ({
    kind: freeText(making),
    namespace: 'default',
    name: freeText(making),
    fieldPath: freeText(making),
  }),
  'Event.regarding': (making) => ({
    kind: freeText(making),
    namespace: 'default',
    name: freeText(making),
    fieldPath: freeText(making),
  }),
  'Event.reportingController': (making) => qualified(making),
  'Event.reportingComponent': (making) => qualified(making),
  'CertificateSigningRequestSpec.request': oneOf(Buffer.from(requestPem()).toString('base64')),
  'CertificateSigningRequestSpec.username': none,
  'CertificateSigningRequestSpec.uid': none,
  'CertificateSigningRequestSpec.groups': none,
  'CertificateSigningRequestSpec.extra': none,
  'CertificateSigningRequestSpec.usages': oneOf(['client auth'], ['digital signature', 'any', 's/mime']),
  'CertificateSigningRequestSpec.signerName': oneOf('example.com/signer', 'a.b/c.d-e'),
  'CertificateSigningRequestSpec.expirationSeconds': maybe(oneOf(600, 2 ** 31 - 1)),
  'CertificateSigningRequestStatus.certificate': none,
  'CertificateSigningRequestCondition.type': ({ count }) => `Odd ${count()}`,
  'CertificateSigningRequestCondition.status': oneOf('True', 'False', 'Unknown'),
  'HorizontalPodAutoscalerSpec.scaleTargetRef': scaled,
  'HorizontalPodAutoscalerSpec.minReplicas': maybe(oneOf(1, 2)),
  'HorizontalPodAutoscalerSpec.targetCPUUtilizationPercentage': maybe(oneOf(1, 80)),
  'HorizontalPodAutoscalerSpec.maxReplicas': oneOf(2, 9),
  'HorizontalPodAutoscalerSpec.metrics': maybe(processorsLast(some(metric, 4))),
  'autoscaling.v2beta1.HorizontalPodAutoscalerSpec.metrics': maybe(processorsLast(some(flatMetric, 4))),
  'HorizontalPodAutoscalerBehavior.scaleUp': rules,
  'HorizontalPodAutoscalerBehavior.scaleDown': rules,
  'HorizontalPodAutoscalerCondition.type': ({ count }) => `Odd ${count()}`,
  'MetricStatus.type': oneOf('Resource', 'Pods', 'Object', 'External', 'Other'),
  'MetricStatus.containerResource': none,
}

const quotas: MakeField = table(
  oneOf('pods', 'requests.cpu', 'limits.memory', 'count/jobs.batch', 'services', 'requests.example.com/gpu'),
  oneOf('0', '1', '20'),
)
const limits: MakeField = oneOf(
  [
    {
      type: 'Container',
      min: { cpu: '100m' },
      max: { cpu: '2', memory: '1Gi' },
      default: { cpu: '1' },
      defaultRequest: { cpu: '500m' },
      maxLimitRequestRatio: { cpu: '4' },
    },
    { type: 'Pod', max: { 'example.com/gpu': '2' } },
  ],
  [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' } }],
  [{ type: 'example.com/Thing', default: { 'example.com/size': '1500m' } }],
)
const amounts: MakeField = oneOf({ cpu: '4', memory: '8Gi', 'example.com/gpu': '2' }, { pods: '110' })
const taints: MakeField = (making) => [
  {
    key: qualified(making)!,
    value: labelValue(making) || 'v',
    effect: making.pick(['NoSchedule', 'PreferNoSchedule']),
  },
  { key: qualified(making)!, effect: 'NoExecute', timeAdded: '2030-01-02T03:04:05Z' },
]

const cluster: ValidValues['fields'] = {
  'ServiceAccount.secrets': maybe(some((making) => ({ name: word(making)! }))),
  'EndpointAddress.ip': address,
  'EndpointAddress.hostname': maybe(word),
  'EndpointAddress.nodeName': maybe(subdomain),
  'EndpointPort.name': portName,
  'EndpointPort.port': port,
  'EndpointPort.protocol': maybe(oneOf('TCP', 'UDP', 'SCTP')),
  'EndpointPort.appProtocol': maybe(qualified),
  'LimitRangeSpec.limits': limits,
  'ResourceQuotaSpec.hard': quotas,
  'ResourceQuotaSpec.scopes': none,
  'ResourceQuotaSpec.scopeSelector': none,
  'ResourceQuotaStatus.hard': quotas,
  'ResourceQuotaStatus.used': quotas,
  'NodeSpec.podCIDR': none,
  'NodeSpec.podCIDRs': maybe(oneOf(['10.0.0.0/24'], ['fd00::/64', '10.0.0.0/8'])),
  'NodeSpec.taints': maybe(taints),
  'NodeSpec.configSource': none,
  'NodeStatus.capacity': maybe(amounts),
  'NodeStatus.allocatable': maybe(amounts),
  'NodeStatus.config': none,
  'NodeAddress.type': ({ count }) => `Odd ${count()}`,
  'NodeCondition.type': ({ count }) => `Odd ${count()}`,
  'PersistentVolumeClaim.spec': (making) => ({
    ...(claimSpec(making) as JsonObject),
    dataSource: { kind: 'PersistentVolumeClaim', name: 'c' },
  }),
  'PersistentVolumeClaimStatus.capacity': maybe(oneOf({ storage: '1Gi' })),
  'PersistentVolumeClaimStatus.allocatedResources': none,
  'PersistentVolumeClaimStatus.resizeStatus': none,
  'PersistentVolumeClaimCondition.type': ({ count }) => `Odd ${count()}`,
}

/** Volume sources that can be block devices. */
const claims = ['persistentVolumeClaim', 'ephemeral']

function useVolumes(spec: JsonObject, making: Making): void {
  const all = (spec.volumes ?? []) as JsonObject[]
  for (const one of [...(spec.containers as JsonObject[]), ...((spec.initContainers ?? []) as JsonObject[])]) {
    const used = all.filter(() => making.chance(0.5))
    const isDevice = (volume: JsonObject) => claims.some((name) => volume[name] !== undefined)
    const mounts = used.filter((volume) => !isDevice(volume)).map(({ name }) => mountOf(name!, making))
    const devices = used.filter(isDevice).map(({ name }) => ({ name: name!, devicePath: `/dev/x${making.count()}` }))
    if (mounts.length > 0) one.volumeMounts = mounts
    if (devices.length > 0) one.volumeDevices = devices
  }
}

function mountOf(name: Json, making: Making): JsonObject {
  const parts = [
    {},
    { subPath: 'a/b' },
    { subPathExpr: '$(A)' },
    { readOnly: true, mountPropagation: 'HostToContainer' },
  ]
  return { name, mountPath: `/m${making.count()}`, ...making.pick<JsonObject>(parts) }
}

const notForInit = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']

function agreeInPod(spec: JsonObject, making: Making): void {
  spec.containers ??= [{ name: 'only', image: 'i' }]
  const first = (spec.initContainers ?? []) as JsonObject[]
  for (const one of first) for (const name of notForInit) delete one[name]
  const ports = [...(spec.containers as JsonObject[]), ...first].flatMap((one) => (one.ports ?? []) as JsonObject[])
  if (spec.hostNetwork) for (const each of ports) delete each.hostPort
  if (spec.hostPID) delete spec.shareProcessNamespace
  delete spec.serviceAccount
  if (JSON.stringify(spec.volumes ?? []).includes('serviceAccountToken')) spec.serviceAccountName ??= 'a'
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName
  if (spec.dnsPolicy === 'None') spec.dnsConfig = { nameservers: ['10.0.0.1'] }
  useVolumes(spec, making)
}

/** Removes the fields of older reporters, which the group `events` rejects, and sets the fields of newer reporters. */
function newerEvent(event: JsonObject, { pick }: Making): void {
  for (const name of Object.keys(event)) if (name.startsWith('deprecated')) delete event[name]
  Object.assign(event, { eventTime: '2030-01-02T03:04:05.000006Z', type: pick(['Normal', 'Warning']) })
  if (event.series !== undefined) event.series = { count: 2, lastObservedTime: '2030-01-02T03:04:06.000000Z' }
}

/** Fields that are valid only for some types of Service. */
const ofBalancers = ['loadBalancerSourceRanges', 'loadBalancerClass', 'allocateLoadBalancerNodePorts']
const ofExternalNames = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']

/**
 * Makes the fields of a Service consistent. Removes addresses and node ports, because another Service may have
 * allocated the same values.
 */
function agreeInService(spec: JsonObject, making: Making): void {
  const type = making.pick(['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'])
  const ports = (spec.ports ?? []) as JsonObject[]
  for (const [i, one] of ports.entries()) Object.assign(one, { name: `p${i}`, port: 80 + i })
  if (type !== 'ExternalName') for (const one of ports) delete one.nodePort
  spec.type = type
  if (type === 'LoadBalancer') for (const one of ports) delete one.protocol
  if (type !== 'LoadBalancer') for (const name of ofBalancers) delete spec[name]
  if (type === 'ClusterIP' || type === 'ExternalName') delete spec.externalTrafficPolicy
  if (type === 'ExternalName') for (const name of ofExternalNames) delete spec[name]
  else if (type !== 'ClusterIP') for (const name of ['clusterIP', 'clusterIPs']) delete spec[name]
  else if (spec.clusterIPs) spec.clusterIP = 'None'
  if (spec.sessionAffinity !== 'ClientIP') delete spec.sessionAffinityConfig
}

const agree: ValidValues['agree'] = {
  EndpointSubset: (object, making) => {
    if (!object.addresses && !object.notReadyAddresses) object.addresses = [{ ip: address(making)! }]
  },
  ResourceQuotaSpec: (spec, making) => {
    if (making.chance(0.5)) return
    spec.hard = { pods: '3', 'count/pods': '2' }
    spec.scopes = [making.pick(['BestEffort', 'Terminating', 'PriorityClass'])]
    spec.scopeSelector = making.pick<JsonObject>([
      { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a', 'b'] }] },
      { matchExpressions: [{ scopeName: 'NotTerminating', operator: 'Exists' }] },
      {},
    ])
  },
  NodeSpec: (spec) => {
    // `podCIDR` must equal the first entry in `podCIDRs`.
    if (Array.isArray(spec.podCIDRs)) spec.podCIDR = spec.podCIDRs[0]!
  },
  ServiceSpec: agreeInService,
  LoadBalancerIngress: (object, making) => keepOne(object, ['ip', 'hostname'], making),
  EnvVar: (object, making) => keepOne(object, ['value', 'valueFrom'], making),
  EnvVarSource: (object, making) => {
    keepOne(object, ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'], making)
    if (Object.keys(object).length === 0) object.fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.name' }
  },
  EnvFromSource: (object, making) => {
    keepOne(object, ['configMapRef', 'secretRef'], making)
    if (!object.configMapRef && !object.secretRef) object.secretRef = { name: 's' }
  },
  DownwardAPIVolumeFile: (object, making) => keepOne(object, ['fieldRef', 'resourceFieldRef'], making),
  VolumeProjection: (object, making) => keepOne(object, Object.keys(object), making),
  SecurityContext: (object) => {
    if (object.allowPrivilegeEscalation === false) delete object.privileged
  },
  SeccompProfile: (object) => {
    if (object.type === 'Localhost') object.localhostProfile = 'a/b.json'
    else delete object.localhostProfile
  },
  FCVolumeSource: (object, making) => {
    keepOne(object, ['targetWWNs', 'wwids'], making)
    if (!object.targetWWNs && !object.wwids) object.wwids = ['w']
  },
  FlockerVolumeSource: (object, making) => {
    keepOne(object, ['datasetName', 'datasetUUID'], making)
    if (!object.datasetName && !object.datasetUUID) object.datasetUUID = 'u'
  },
  AzureDiskVolumeSource: (object) => {
    object.diskURI = object.kind === 'Managed' ? '/subscriptions/a' : 'https://a.example/b.vhd'
  },
  PodSpec: agreeInPod,
  ReplicationControllerSpec: (spec, making) => {
    const template = spec.template as { metadata?: JsonObject; spec: JsonObject }
    template.metadata = { labels: { app: 'a', tier: making.pick(['b', '']) } }
    template.spec.restartPolicy = 'Always'
    delete template.spec.activeDeadlineSeconds
    spec.selector = making.pick([{ app: 'a' }, { ...(template.metadata.labels as JsonObject) }])
    Object.assign(spec, { replicas: making.pick([0, 1, 7]), minReadySeconds: making.pick([0, 5]) })
  },
  ReplicationControllerStatus: (status) => {
    const counts = { replicas: 5, fullyLabeledReplicas: 4, readyReplicas: 3, availableReplicas: 2 }
    Object.assign(status, counts, { observedGeneration: 1 })
  },
  PersistentVolumeSpec: (spec, making) => {
    if (spec.local)
      spec.nodeAffinity ??= { required: { nodeSelectorTerms: [{ matchExpressions: [requirement(making)!] }] } }
  },
  Event: (event, making) => {
    if (event.regarding !== undefined) newerEvent(event, making)
    if (event.eventTime === undefined) return
    Object.assign(event, { reportingInstance: 'i', action: freeText(making), reason: freeText(making) })
  },
}

export const validValues: ValidValues = {
  fields: {
    ...containers,
    ...scheduling,
    ...pods,
    ...volumes,
    ...services,
    ...others,
    ...groupValues.fields,
    ...cluster,
    ...definitionFields,
    ...workloadValues.fields,
  },
  needed: [
    'PodTemplateSpec.spec',
    'PodSpec.containers',
    'ReplicationControllerSpec.template',
    'ReplicationController.spec',
    'Service.spec',
    'ServiceSpec.ports',
    'Event.regarding',
    'Event.reportingController',
    ...groupValues.needed,
    ...definitionsNeeded,
    ...workloadValues.needed,
  ],
  longest: { 'PodSpec.volumes': 8, 'ProjectedVolumeSource.sources': 6 },
  agree: { ...agree, ...groupValues.agree, ...definitionsAgree, ...workloadValues.agree },
}

/** Returns the metadata of a new object. */
export function metadataOf(making: Making, name: string): JsonObject {
  const owner = {
    apiVersion: 'v1',
    kind: 'Any',
    name: freeText(making),
    uid: `u${making.count()}`,
    controller: making.chance(0.5),
  }
  return {
    name,
    ...definedOf({ labels: labels(making), annotations: annotations(making) }),
    ...(making.chance(0.2) ? { ownerReferences: [owner] } : {}),
    ...(making.chance(0.2) ? { finalizers: ['example.com/keep', 'orphan'] } : {}),
  }
}

function definedOf(object: { [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as JsonObject
}
