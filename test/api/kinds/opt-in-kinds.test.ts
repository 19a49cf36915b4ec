/**
 * Tests kinds and rules that are off by default: trust bundles, lease candidates, and fields behind alpha feature
 * gates.
 */
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { type Row, testRows } from '../../support/version-rows.ts'
import { makeAuthority, template } from '../pki/issue.ts'

const { groupDomain } = vendorOf('kubernetes')
const bundle = (spec: object, name?: string) => ({
  path: `/apis/certificates.${groupDomain}/v1beta1/clustertrustbundles`,
  body: { ...(name === undefined ? {} : { metadata: { name } }), spec },
})
const authority = await makeAuthority()
const { certificate } = authority
const signerName = 'example.com/s'

/** Every request for a deprecated version returns a warning. */
const bundles: Row[] = [
  { name: 'a bundle contains root certificates', ...bundle({ trustBundle: certificate }), warnings: 1 },
  {
    name: 'the name of a bundle starts with its signer',
    ...bundle({ signerName, trustBundle: certificate }, 'example.com:s:a'),
    warnings: 1,
  },
  {
    name: 'another name is rejected',
    ...bundle({ signerName, trustBundle: certificate }),
    causes: ['Invalid metadata.name'],
  },
  {
    name: 'a name with a colon needs a signer',
    ...bundle({ trustBundle: certificate }, 'example.com:s:b'),
    causes: ['Invalid metadata.name'],
  },
  ...[
    ['an empty bundle', ''],
    ['a repeated certificate', certificate + certificate],
    ['the certificate of no authority', issueCertificate(template(authority))],
    ['another PEM block', certificate.replaceAll('CERTIFICATE', 'PUBLIC KEY')],
  ].map(
    ([name, trustBundle]): Row => ({
      name: `${name} is rejected`,
      ...bundle({ trustBundle }),
      causes: ['Invalid spec.trustBundle'],
    }),
  ),
  {
    name: 'the signer does not change',
    ...bundle({ trustBundle: certificate }),
    patch: { spec: { signerName } },
    causes: ['Invalid metadata.name', 'Invalid spec.signerName'],
  },
]

const candidate = (spec: object) => ({
  path: `/apis/coordination.${groupDomain}/v1beta1/namespaces/default/leasecandidates`,
  body: { spec: { leaseName: 'l', binaryVersion: '1.2.3', strategy: 'OldestEmulationVersion', ...spec } },
})

const candidates: Row[] = [
  { name: 'a candidate has versions', ...candidate({ emulationVersion: '1.2.0' }), warnings: 1 },
  {
    name: 'a candidate needs its lease, version and strategy',
    ...candidate({ leaseName: undefined, binaryVersion: 'x', strategy: undefined }),
    causes: ['Invalid spec.binaryVersion', 'Required spec.leaseName', 'Required spec.strategy'],
  },
  {
    name: 'a candidate does not emulate a later version',
    ...candidate({ emulationVersion: '1.3.0' }),
    causes: ['Invalid spec.binaryVersion'],
  },
  {
    name: 'the lease of a candidate does not change',
    ...candidate({ emulationVersion: '1.2.0' }),
    patch: { spec: { leaseName: 'm' } },
    causes: ['Invalid spec.leaseName'],
  },
]

const pod = (spec: object) => ({
  path: '/api/v1/namespaces/default/pods',
  body: { spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
})
const tolerating = (operator: string, value?: string) => pod({ tolerations: [{ key: 'a', operator, value }] })
const terms = (value: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: [value] }] }] },
})
const volume = {
  path: '/api/v1/persistentvolumes',
  body: {
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      csi: { driver: 'd', volumeHandle: 'h' },
      nodeAffinity: terms('a'),
    },
  },
}
const scaler = {
  path: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  body: {
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, minReplicas: 0, maxReplicas: 5 },
  },
}
const ownUsers = pod({ hostUsers: false, hostNetwork: true })
const affinity = { patch: { spec: { nodeAffinity: terms('b') } } }

const gated: Row[] = [
  { name: 'tolerations compare integers', ...tolerating('Gt', '-5') },
  { name: 'leading zeros are rejected', ...tolerating('Lt', '05'), causes: ['Invalid spec.tolerations[0].value'] },
  { name: 'a comparison needs a value', ...tolerating('Gt'), causes: ['Invalid spec.tolerations[0].value'] },
  {
    name: 'more than 64 bits are rejected',
    ...tolerating('Gt', '9223372036854775808'),
    causes: ['Invalid spec.tolerations[0].value'],
  },
  { name: 'the affinity of a volume changes', ...volume, ...affinity },
  {
    name: 'pods do not need the driver by default',
    path: `/apis/storage.${groupDomain}/v1/csidrivers`,
    body: { spec: {} },
    shows: { 'spec.preventPodSchedulingIfMissing': false },
  },
  { name: 'pods with own users use the host network', ...ownUsers },
  {
    name: 'a scheduling group has a name',
    ...pod({ schedulingGroup: {} }),
    causes: ['Invalid spec.schedulingGroup.podGroupName'],
  },
  { name: 'scaling to zero needs a metric', ...scaler, causes: ['Forbidden spec.metrics'] },
]

const ungated: Row[] = [
  {
    name: 'tolerations compare no integers',
    ...tolerating('Gt', '5'),
    causes: ['NotSupported spec.tolerations[0].operator'],
  },
  { name: 'the affinity of a volume is immutable', ...volume, ...affinity, causes: ['Invalid spec.nodeAffinity'] },
  { name: 'pods with own users do not use the host network', ...ownUsers, causes: ['Forbidden spec.hostNetwork'] },
  {
    name: 'nothing scales to zero',
    ...scaler,
    causes: ['Forbidden spec.metrics', 'Invalid spec.minReplicas'],
  },
  {
    name: 'the status of a node keeps fields whose gate is off',
    path: '/api/v1/nodes',
    body: {},
    patch: { status: { declaredFeatures: ['A'] } },
    subresource: '/status',
    shows: { 'status.declaredFeatures.0': 'A' },
  },
  {
    name: 'a new node does not',
    path: '/api/v1/nodes',
    body: { status: { declaredFeatures: ['A'] } },
    shows: { 'status.declaredFeatures': undefined },
  },
]

await testRows(
  '1.36',
  [...bundles, ...candidates, ...gated],
  [
    `--runtime-config=certificates.${groupDomain}/v1beta1,coordination.${groupDomain}/v1beta1`,
    '--feature-gates=TaintTolerationComparisonOperators=true,MutablePVNodeAffinity=true,VolumeLimitScaling=true,HPAScaleToZero=true,UserNamespacesHostNetworkSupport=true,ClusterTrustBundle=true,CoordinatedLeaderElection=true,GenericWorkload=true',
    '--disable-admission-plugins=ServiceAccount',
  ],
)
await testRows('1.36', ungated, [
  '--feature-gates=NodeDeclaredFeatures=false',
  '--disable-admission-plugins=ServiceAccount',
])
