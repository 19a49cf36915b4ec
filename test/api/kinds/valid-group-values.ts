/**
 * Generates field values for kinds in the storage, scheduling, node and other groups. The values follow rules that a
 * schema cannot express.
 */
import type { JsonObject } from '../../../src/api/json/json.ts'
import {
  address,
  keepOne,
  labelValue,
  maybe,
  modes,
  none,
  oneOf,
  port,
  portName,
  qualified,
  some,
  subdomain,
  table,
  word,
} from './makers.ts'
import { freeText, type MakeField, type Making, type ValidValues } from './random-object.ts'

const driver: MakeField = (making) => making.pick(['csi.example.com', 'Upper.Case'])

const storage: ValidValues['fields'] = {
  'StorageClass.provisioner': (making) => making.pick([qualified(making)!, 'Example.COM/Disks_1']),
  'StorageClass.reclaimPolicy': maybe(oneOf('', 'Delete', 'Retain')),
  'StorageClass.allowedTopologies': maybe(
    some((making) => ({ matchLabelExpressions: [{ key: qualified(making)!, values: ['a', 'b'] }] })),
  ),
  'TopologySelectorTerm.matchLabelExpressions': some((making) => ({ key: qualified(making)!, values: ['a'] })),
  'CSIDriverSpec.volumeLifecycleModes': maybe(oneOf([], ['Ephemeral'], ['Persistent', 'Ephemeral'])),
  'TokenRequest.audience': ({ count }) => `audience ${count()}`,
  'TokenRequest.expirationSeconds': maybe(oneOf(600, 2 ** 32)),
  'CSINodeDriver.name': (making) => `d${making.count()}.example.com`,
  'CSINodeDriver.topologyKeys': maybe(some(qualified)),
  'VolumeNodeResources.count': maybe(oneOf(0, 7)),
  'CSIStorageCapacity.storageClassName': subdomain,
  'VolumeAttachmentSpec.attacher': driver,
  'VolumeAttachmentSpec.nodeName': subdomain,
  'VolumeAttachmentSource.persistentVolumeName': maybe(subdomain),
  'VolumeAttachmentSource.inlineVolumeSpec': (making) => ({
    accessModes: modes(making)!,
    csi: { driver: driver(making)!, volumeHandle: freeText(making) },
    ...making.pick<JsonObject>([{}, { volumeMode: 'Filesystem', mountOptions: ['ro'] }]),
  }),
}

const nodes: ValidValues['fields'] = {
  'APIServiceSpec.group': oneOf('example.com'),
  'APIServiceSpec.version': oneOf('v1', 'v2alpha1'),
  'APIServiceSpec.groupPriorityMinimum': oneOf(1, 20_000),
  'APIServiceSpec.versionPriority': oneOf(1, 1000),
  'APIServiceSpec.service': maybe((making) => ({ namespace: word(making)!, name: word(making)!, port: port(making)! })),
  'DeniedCertificate.serialNumber': oneOf('4a:3F', '0'),
  'DeniedCertificate.fingerprint': oneOf('a'.repeat(64)),
  'SimulationRuleSpec.failure': oneOf('crash-loop', 'oom', 'none'),
  'SimulationRuleSpec.probabilityPercent': oneOf(0, 30, 100),
  'SimulationRuleSpec.delaySeconds': oneOf(0, 60),
  'PriorityClass.value': oneOf(0, -5, 1_000_000_000),
  'PriorityClass.preemptionPolicy': maybe(oneOf('Never', 'PreemptLowerPriority')),
  'LeaseSpec.leaseDurationSeconds': maybe(oneOf(1, 15)),
  'RuntimeClass.handler': word,
  'Overhead.podFixed': maybe(oneOf({ cpu: '250m', memory: '1Mi' }, { 'example.com/gpu': '2' })),
  'Scheduling.nodeSelector': maybe(table(qualified, labelValue)),
  'Scheduling.tolerations': maybe(
    some((making) => ({ key: qualified(making)!, ...making.pick([{ operator: 'Exists' }, { value: 'v' }]) })),
  ),
}

const backend: MakeField = (making) =>
  making.pick<JsonObject>([
    { service: { name: `s${making.count()}`, port: making.pick<JsonObject>([{ name: 'web' }, { number: 80 }]) } },
    { resource: { apiGroup: 'g.example.com', kind: freeKind(making), name: word(making)! } },
  ])

const freeKind = ({ pick }: Making): string => pick(['Bucket', 'A b', 'é'])

const networking: ValidValues['fields'] = {
  'IngressSpec.defaultBackend': backend,
  'IngressSpec.ingressClassName': maybe(subdomain),
  'HTTPIngressPath.path': oneOf('/', '/a/b.c', '/a/'),
  'HTTPIngressPath.pathType': oneOf('Exact', 'Prefix', 'ImplementationSpecific'),
  'HTTPIngressPath.backend': backend,
  'IngressRule.host': maybe((making) => making.pick([subdomain(making)!, '*.example.com'])),
  'IngressTLS.hosts': maybe(some(subdomain)),
  'IngressTLS.secretName': maybe(subdomain),
  'LoadBalancerIngress.ip': maybe(address),
  'LoadBalancerIngress.hostname': maybe(subdomain),
  'IngressClassSpec.controller': oneOf('example.com/a', "e-1.com/B~!$&'()*+,;=:/%zz"),
  'IngressClassParametersReference.apiGroup': maybe(subdomain),
  'IngressClassParametersReference.kind': freeKind,
  'IngressClassParametersReference.name': word,
  'IngressClassParametersReference.namespace': word,
  'NetworkPolicySpec.policyTypes': maybe(oneOf(['Ingress'], ['Egress'], ['Ingress', 'Egress'])),
  'NetworkPolicyPort.port': oneOf(80, 443),
  'NetworkPolicyPort.endPort': maybe(oneOf(443, 65535)),
  'IPBlock.cidr': oneOf('10.0.0.0/8', '010.1.2.3/8'),
  'IPBlock.except': maybe(oneOf(['10.1.0.0/16'], ['10.2.0.0/31', '10.3.0.1/32'])),
  'EndpointSlice.addressType': oneOf('IPv4'),
  'Endpoint.addresses': some(({ below }) => `10.0.${below(256)}.${below(256)}`),
  'Endpoint.hostname': maybe(word),
  'Endpoint.nodeName': maybe(subdomain),
  'Endpoint.deprecatedTopology': none,
  'Endpoint.topology': maybe(table(qualified, labelValue)),
  'Endpoint.hints': none,
  'EndpointPort.name': portName,
  'EndpointPort.appProtocol': maybe(qualified),
}

const policyRule: MakeField = (making) => {
  const verbs = making.pick([['get'], ['*'], ['list', 'odd verb']])
  const names = making.pick<JsonObject>([{}, { resourceNames: ['a', '😀'] }])
  return {
    verbs,
    apiGroups: making.pick([[''], ['*', 'apps']]),
    resources: making.pick([['pods/log'], ['*']]),
    ...names,
  }
}

const subject: MakeField = (making) =>
  making.pick<JsonObject>([
    { kind: 'User', name: freeText(making), apiGroup: 'rbac.authorization.orch.io' },
    { kind: 'Group', name: freeText(making), namespace: freeText(making) },
    { kind: 'ServiceAccount', name: subdomain(making)!, namespace: freeText(making) },
  ])

const access: ValidValues['fields'] = {
  'Role.rules': maybe(some(policyRule)),
  'ClusterRole.rules': maybe(
    some((making) => making.pick([policyRule(making)!, { verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] }])),
  ),
  'AggregationRule.clusterRoleSelectors': some((making) => ({ matchLabels: { [String(qualified(making))]: 'a' } })),
  'RoleBinding.subjects': maybe(some(subject)),
  'ClusterRoleBinding.subjects': maybe(some(subject)),
  'RoleRef.apiGroup': maybe(oneOf('rbac.authorization.orch.io')),
  'RoleRef.kind': oneOf('ClusterRole'),
  'RoleRef.name': oneOf('a', 'System:Odd'),
}

const webhooks: ValidValues['fields'] = {
  'RuleWithOperations.operations': oneOf(['*'], ['CREATE', 'CONNECT']),
  'RuleWithOperations.apiGroups': oneOf(['*'], ['', 'apps']),
  'RuleWithOperations.apiVersions': oneOf(['*'], ['v1', 'odd']),
  'RuleWithOperations.resources': oneOf(['*/*'], ['*', 'pods/log'], ['pods', 'pods/*']),
  'WebhookClientConfig.url': maybe(oneOf('https://example.com', 'https://127.0.0.1:8443/a b')),
  'WebhookClientConfig.service': (making) => ({
    name: freeText(making),
    namespace: freeText(making),
    ...making.pick<JsonObject>([{}, { path: '' }, { path: '/a/b.c/', port: 8443 }]),
  }),
  ...Object.fromEntries(
    ['MutatingWebhook', 'ValidatingWebhook'].flatMap((type): [string, MakeField][] => [
      [`${type}.name`, ({ count }) => `w${count()}.example.com`],
      [`${type}.sideEffects`, oneOf('None', 'NoneOnDryRun')],
      [`${type}.timeoutSeconds`, maybe(oneOf(1, 30))],
      [`${type}.admissionReviewVersions`, oneOf(['v1'], ['v2', 'v1beta1'])],
    ]),
  ),
}

const flows: ValidValues['fields'] = {
  'PriorityLevelConfigurationReference.name': subdomain,
  'FlowSchemaSpec.matchingPrecedence': oneOf(2, 10_000),
  'FlowDistinguisherMethod.type': oneOf('ByUser', 'ByNamespace'),
  'PolicyRulesWithSubjects.subjects': some((making) =>
    making.pick<JsonObject>([
      { kind: 'User', user: { name: freeText(making) } },
      { kind: 'Group', group: { name: freeText(making) } },
      { kind: 'ServiceAccount', serviceAccount: { name: making.pick(['*', 'a.b']), namespace: word(making)! } },
    ]),
  ),
  'PolicyRulesWithSubjects.resourceRules': some((making) => ({
    verbs: making.pick([['*'], ['get', 'proxy']]),
    apiGroups: making.pick([['*'], ['', 'apps']]),
    resources: making.pick([['*'], ['pods/log']]),
    ...making.pick<JsonObject>([
      { namespaces: ['*'] },
      { clusterScope: true },
      { clusterScope: true, namespaces: ['a'] },
    ]),
  })),
  'PolicyRulesWithSubjects.nonResourceRules': maybe(
    some(() => ({ verbs: ['get'], nonResourceURLs: ['/', '/healthz', '/metrics/*'] })),
  ),
  'FlowSchemaCondition.type': ({ count }) => `Odd ${count()}`,
  'PriorityLevelConfigurationCondition.type': ({ count }) => `Odd ${count()}`,
  'PriorityLevelConfigurationSpec.type': oneOf('Limited'),
  'LimitResponse.type': oneOf('Queue', 'Reject'),
  'QueuingConfiguration.queues': oneOf(64, 128),
  'QueuingConfiguration.handSize': oneOf(1, 8),
}

export const groupValues: Omit<ValidValues, 'longest'> = {
  fields: { ...storage, ...nodes, ...networking, ...access, ...webhooks, ...flows },
  needed: [
    'FlowSchema.spec',
    'FlowSchemaSpec.priorityLevelConfiguration',
    'PriorityLevelConfiguration.spec',
    'PriorityLevelConfigurationSpec.limited',
    'LimitedPriorityLevelConfiguration.limitResponse',
    'VolumeAttachment.spec',
    'VolumeAttachmentSpec.source',
    'Ingress.spec',
    'IngressClass.spec',
    'HTTPIngressRuleValue.paths',
    'RoleBinding.roleRef',
    'ClusterRoleBinding.roleRef',
    'MutatingWebhook.clientConfig',
    'ValidatingWebhook.clientConfig',
  ],
  agree: {
    APIServiceSpec: (object, making) => {
      keepOne(object, ['caBundle', 'insecureSkipTLSVerify'], making)
      if (object.service !== undefined) return
      delete object.caBundle
      delete object.insecureSkipTLSVerify
    },
    DeniedCertificate: (object, making) => keepOne(object, ['serialNumber', 'fingerprint'], making),
    VolumeAttachmentSource: (object, making) => keepOne(object, ['persistentVolumeName', 'inlineVolumeSpec'], making),
    WebhookClientConfig: (object, making) => keepOne(object, ['url', 'service'], making),
    LimitResponse: (object) => {
      if (object.type === 'Reject') delete object.queuing
      else object.queuing ??= {}
    },
    IngressClassParametersReference: (object) => {
      if (object.scope !== 'Namespace') delete object.namespace
    },
    NetworkPolicyPeer: (object, { chance }) => {
      if (chance(0.6)) {
        delete object.podSelector
        delete object.namespaceSelector
        object.ipBlock ??= { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }
      } else {
        delete object.ipBlock
        object.podSelector ??= {}
      }
    },
    Endpoint: (object) => {
      // The server sets the host name only in the older version.
      if (object.topology !== undefined) delete object.nodeName
    },
  },
}
