/** Tests Pod in later Kubernetes versions: fields, rules and defaults that 1.23 does not have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { pod } from '../../../src/api/kinds/core/pod.ts'
import { podTemplate } from '../../../src/api/kinds/core/pod-template.ts'
import { asJson } from '../../../src/api/model/object.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { defaultGatesOf } from '../../../src/api/versions/feature-gates.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const main = { name: 'main', image: 'app:1' }

function podWith(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: 'a', namespace: 'b', ...metadata }, spec: { containers: [main], ...spec } }
}

test('since Kubernetes 1.33, every spec change increments the generation of a pod', () => {
  const generationsOf = (version: EmulatedVersion) => {
    const { object: first } = createBy(pod, podWith(), { version })
    const sent = [podWith(), podWith({}, { labels: { a: 'b' } }), podWith({ activeDeadlineSeconds: 5 })]
    return [first, ...sent.map((each) => updateBy(pod, first, each, { version }).object)].map(
      ({ metadata }) => metadata.generation,
    )
  }
  // An undefined generation is unchanged: before the rules run, the registry copies the stored generation.
  assert.deepEqual(generationsOf('1.33'), [1, undefined, undefined, 2])
  assert.deepEqual(generationsOf('1.32'), [undefined, undefined, undefined, undefined])
})

/** A version, the spec of a new pod, and the expected errors. */
type Row = readonly [EmulatedVersion, JsonObject, ...string[]]

function faultsOf(version: EmulatedVersion, spec: JsonObject, metadata: JsonObject = {}): readonly string[] {
  return createBy(pod, podWith(spec, metadata), { version }).faults
}

function assertRows(rows: readonly Row[]): void {
  for (const [version, spec, ...faults] of rows)
    assert.deepEqual(faultsOf(version, spec), faults, `${version} ${JSON.stringify(spec)}`)
}

const container = (parts: JsonObject) => ({ containers: [{ ...main, ...parts }] })
const init = (parts: JsonObject) => ({ initContainers: [{ name: 'i', image: 'x:1', ...parts }] })
const exec = { exec: { command: ['a'] } }
const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } }

test('sidecars may have probes, but other init containers may not', () => {
  assertRows([
    ['1.29', init({ restartPolicy: 'Always', livenessProbe: exec, lifecycle: { preStop: exec } })],
    [
      '1.29',
      init({ livenessProbe: { ...exec, successThreshold: 2 } }),
      'Forbidden spec.initContainers[0].livenessProbe',
    ],
    ['1.29', init({ restartPolicy: 'Never' }), 'NotSupported spec.initContainers[0].restartPolicy'],
    ['1.29', container({ restartPolicy: 'Never' }), 'Forbidden spec.containers[0].restartPolicy'],
    ['1.35', init({ restartPolicy: 'Never' })],
    ['1.35', container({ restartPolicy: 'x' }), 'NotSupported spec.containers[0].restartPolicy'],
  ])
  const dropped = createBy(pod, podWith(init({ restartPolicy: 'Always' })), { version: '1.28' }).object
  assert.equal(JSON.stringify(dropped).match(/"restartPolicy"/g)?.length, 1)
})

test('restart rules require a restart policy and known actions, and their lists are limited in size', () => {
  const path = 'spec.containers[0].restartPolicyRules'
  const rules = (...restartPolicyRules: JsonObject[]) => container({ restartPolicy: 'Never', restartPolicyRules })
  const all = { ...rule, action: 'RestartAllContainers' }
  assertRows([
    ['1.35', rules(rule)],
    ['1.35', container({ restartPolicyRules: [rule] }), 'Required spec.containers[0].restartPolicy'],
    ['1.35', rules(all), `NotSupported ${path}[0].action`],
    ['1.36', rules(all)],
    ['1.36', rules({ action: 'Restart' }), `Required ${path}[0].exitCodes`],
    ['1.36', rules({ ...rule, exitCodes: {} }), `NotSupported ${path}[0].exitCodes.operator`],
    ['1.36', rules(...Array<JsonObject>(21).fill(rule)), `TooMany ${path}`],
  ])
  const dropped = createBy(pod, podWith(rules(rule)), { version: '1.34' }).object
  assert.doesNotMatch(JSON.stringify(dropped), /restartPolicyRules|"restartPolicy":"Never"/)
})

test('container settings must be consistent with the pod settings', () => {
  const sleep = (seconds: number) => container({ lifecycle: { preStop: { sleep: { seconds } } } })
  const resize = (...resizePolicy: JsonObject[]) => container({ resizePolicy })
  const cpu = { resourceName: 'cpu', restartPolicy: 'RestartContainer' }
  const claims = (...used: JsonObject[]) => ({
    ...container({ resources: { claims: used } }),
    resourceClaims: [{ name: 'a', resourceClaimName: 'x' }],
  })
  const at = 'spec.containers[0]'
  assertRows([
    ['1.31', sleep(0), `Invalid ${at}.lifecycle.preStop.sleep`],
    ['1.34', sleep(0)],
    ['1.34', sleep(31), `Invalid ${at}.lifecycle.preStop.sleep`],
    ['1.34', resize(cpu, cpu), `Duplicate ${at}.resizePolicy[1]`],
    ['1.34', resize({}), `Required ${at}.resizePolicy`],
    ['1.34', { ...resize(cpu), restartPolicy: 'Never' }, `Invalid ${at}.resizePolicy`],
    ['1.34', claims({ name: 'a', request: 'p' }, { name: 'a', request: 'q' })],
    ['1.34', claims({ name: 'a' }, { name: 'a', request: 'q' }), `Duplicate ${at}.resources.claims[1]`],
    ['1.34', claims({ name: 'b' }, {}), `NotFound ${at}.resources.claims[0]`, `Required ${at}.resources.claims[1]`],
    ['1.34', container({ securityContext: { procMount: 'Unmasked' } }), `Invalid ${at}.securityContext.procMount`],
    ['1.34', { ...container({ securityContext: { procMount: 'Unmasked' } }), hostUsers: false }],
    [
      '1.34',
      { hostUsers: false, hostNetwork: true, hostPID: true },
      'Forbidden spec.HostPID',
      'Forbidden spec.hostNetwork',
    ],
  ])
})

test('environment variable names and file references follow the validation rules of the emulated version', () => {
  const file = (fileKeyRef: JsonObject) => ({
    ...container({ env: [{ name: '1 a', valueFrom: { fileKeyRef } }] }),
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'h', hostPath: { path: '/a' } },
    ],
  })
  const at = 'spec.containers[0].env[0].valueFrom.fileKeyRef'
  const good = { volumeName: 'v', path: 'x', key: 'K' }
  assertRows([
    ['1.31', container({ env: [{ name: '1 a' }] }), 'Invalid spec.containers[0].env[0].name'],
    ['1.35', file(good)],
    ['1.35', file({ ...good, volumeName: 'w' }), `NotFound ${at}.volumeName`],
    ['1.35', file({ ...good, volumeName: 'h' }), `Invalid ${at}.volumeName`],
    ['1.35', file({ ...good, path: '../x', key: 'a=b' }), `Invalid ${at}.key`, `Invalid ${at}.path`],
  ])
})

test('a pod that specifies its operating system must not have settings for another operating system', () => {
  assertRows([
    ['1.25', { os: { name: 'plan9' } }, 'NotSupported spec.os'],
    ['1.25', { os: {} }, 'Required spec.os.name'],
    ['1.25', { os: { name: 'windows' }, hostPID: true }, 'Forbidden spec.hostPID'],
    [
      '1.25',
      { os: { name: 'linux' }, securityContext: { windowsOptions: { runAsUserName: 'x' } } },
      'Forbidden spec.securityContext.windowsOptions',
    ],
  ])
})

test('container resources must not exceed the pod resources', () => {
  const spec = (resources: JsonObject, requests: JsonObject = {}) => ({
    ...container({ resources: { requests } }),
    resources,
  })
  assertRows([
    ['1.34', spec({ requests: { cpu: '1' } }, { cpu: '2' }), 'Invalid spec.resources.requests[cpu]'],
    [
      '1.34',
      spec({ requests: { 'ephemeral-storage': '1' } }),
      'NotSupported spec.resources.requests[ephemeral-storage]',
    ],
    ['1.34', spec({ requests: { cpu: '2' }, limits: { cpu: '1' } }), 'Invalid spec.resources.requests'],
  ])
  const { object } = createBy(pod, podWith(spec({ limits: { cpu: '2', memory: '1Gi' } }, { cpu: '500m' })), {
    version: '1.34',
  })
  const { spec: made, status } = object as unknown as { spec: { resources: JsonObject }; status: JsonObject }
  assert.deepEqual(made.resources.requests, { cpu: '500m', memory: '1Gi' })
  assert.equal(status.qosClass, 'Burstable')
})

test('huge pages of a pod default to the huge pages of its containers', () => {
  const pages = (amount: string) => ({ 'hugepages-2Mi': amount })
  const one = { ...main, resources: { limits: { cpu: '1', ...pages('2Mi') } } }
  const containers = [one, { ...one, name: 'other' }]
  const rows: readonly (readonly [sent: JsonObject | undefined, made: JsonObject | undefined])[] = [
    [undefined, undefined],
    [{}, {}],
    [{ requests: { cpu: '3' } }, { limits: pages('4Mi'), requests: { cpu: '3', ...pages('4Mi') } }],
    [
      { limits: { cpu: '3', ...pages('8Mi') } },
      { limits: { cpu: '3', ...pages('8Mi') }, requests: { cpu: '2', ...pages('8Mi') } },
    ],
  ]
  for (const [sent, made] of rows) {
    const { object } = createBy(pod, podWith({ containers, ...(sent && { resources: sent }) }), { version: '1.34' })
    assert.deepEqual((object as unknown as { spec: JsonObject }).spec.resources, made, JSON.stringify(sent))
  }
})

test('matchLabelKeys of a new pod add requirements to its label selectors', () => {
  const term = { topologyKey: 'z', labelSelector: { matchLabels: { app: 'a' } }, matchLabelKeys: ['rev'] }
  const spread = { ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }
  const labels = { app: 'a', rev: '3' }
  const { object } = createBy(pod, podWith({ topologySpreadConstraints: [spread] }, { labels }), { version: '1.34' })
  assert.match(JSON.stringify(object), /"matchExpressions":\[\{"key":"rev","operator":"In","values":\["3"\]\}\]/)
  const repeated = { ...spread, matchLabelKeys: ['app'] }
  assert.deepEqual(faultsOf('1.34', { topologySpreadConstraints: [repeated] }, { labels }), [
    'Invalid spec.topologySpreadConstraints[0][0]',
  ])
  assert.deepEqual(faultsOf('1.31', { topologySpreadConstraints: [repeated] }, { labels }), [
    'Invalid spec.topologySpreadConstraints[0].matchLabelKeys[0]',
  ])
  const { labelSelector: _, ...unselected } = spread
  assertRows([
    ['1.34', { topologySpreadConstraints: [unselected] }, 'Forbidden spec.topologySpreadConstraints[0].matchLabelKeys'],
    [
      '1.34',
      { topologySpreadConstraints: [{ ...spread, minDomains: 0 }] },
      'Invalid spec.topologySpreadConstraints[0].minDomains',
    ],
  ])
})

test('scheduling gates can only be removed, and an update may restrict a gated pod to fewer nodes', () => {
  const version = '1.30'
  const gated = { schedulingGates: [{ name: 'a' }], nodeSelector: { x: '1' } }
  const { object } = createBy(pod, podWith(gated), { version })
  assert.match(JSON.stringify(object), /"reason":"SchedulingGated"/)
  const faults = (spec: JsonObject) => updateBy(pod, object, podWith(spec), { version }).faults
  assert.deepEqual(faults({ nodeSelector: { x: '1' } }), [])
  assert.deepEqual(faults({ ...gated, nodeSelector: { x: '1', y: '2' } }), [])
  assert.deepEqual(faults({ ...gated, nodeSelector: { x: '2' } }), ['Invalid spec.nodeSelector'])
  assert.deepEqual(faults({ ...gated, schedulingGates: [{ name: 'b' }] }), ['Forbidden spec.schedulingGates[0].name'])
  assert.deepEqual(faultsOf(version, { ...gated, nodeName: 'n' }), ['Forbidden spec.nodeName'])
})

test('a resize changes only CPU and memory, and never the QoS class', () => {
  const ways = { version: '1.36', subresource: 'resize' } as const
  const spec = (resources: JsonObject, image = 'app:1') => podWith(container({ resources, image }))
  const start = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } }
  const { object } = createBy(pod, spec(start), { version: '1.36' })
  const after = updateBy(pod, object, spec({ ...start, requests: { cpu: '2', memory: '1Gi' } }, 'other'), ways)
  assert.deepEqual([after.faults, after.object.metadata.generation], [[], 2])
  assert.equal(JSON.stringify(after.object).includes('other'), false)
  const rows: readonly (readonly [JsonObject, ...string[]])[] = [
    [{ requests: start.limits, limits: start.limits }, 'Invalid spec'],
    [{ ...start, requests: { ...start.requests, 'ephemeral-storage': '1' } }, 'Forbidden spec'],
    [{ ...start, limits: { cpu: '2' } }, 'Forbidden spec.containers[0].resources.limits'],
  ]
  for (const [resources, ...faults] of rows)
    assert.deepEqual(updateBy(pod, object, spec(resources), ways).faults, faults)
})

test('AppArmor annotations and fields of a new pod are kept in sync', () => {
  const key = 'container.apparmor.security.beta.orch.io/main'
  const profile = (type: string) => container({ securityContext: { appArmorProfile: { type } } })
  const made = (version: EmulatedVersion, spec: JsonObject, annotations?: JsonObject) =>
    JSON.stringify(createBy(pod, podWith(spec, annotations && { annotations }), { version }).object)
  assert.match(made('1.31', profile('Unconfined')), /"container\.apparmor[^"]+":"unconfined"/)
  assert.doesNotMatch(made('1.34', profile('Unconfined')), /"container\.apparmor/)
  assert.match(
    made('1.34', {}, { [key]: 'localhost/x' }),
    /"appArmorProfile":\{"type":"Localhost","localhostProfile":"x"\}/,
  )
  assert.deepEqual(faultsOf('1.34', profile('Unconfined'), { annotations: { [key]: 'runtime/default' } }), [
    'Forbidden spec.containers[0].securityContext.appArmorProfile.type',
  ])
  assertRows([['1.34', profile('x'), 'NotSupported spec.containers[0].securityContext.appArmorProfile.type']])
})

test('the pod status may list devices, users and claims', () => {
  const version = '1.36'
  const { object } = createBy(pod, podWith(container({ resources: { limits: { 'example.com/gpu': '1' } } })), {
    version,
  })
  const faults = (status: JsonObject) =>
    updateBy(pod, object, { ...podWith(), status }, { version, subresource: 'status' }).faults
  const one = (parts: JsonObject) => faults({ containerStatuses: [{ name: 'main', ...parts }] })
  const at = 'status.containerStatuses[0]'
  assert.deepEqual(faults({ observedGeneration: -1, hostIPs: [{ ip: '1.1.1.1' }] }), [
    'Invalid status.hostIPs[0].ip',
    'Invalid status.observedGeneration',
  ])
  assert.deepEqual(faults({ resourceClaimStatuses: [{ name: 'x' }] }), ['Invalid status.resourceClaimStatuses[0].name'])
  assert.deepEqual(one({ user: { linux: { uid: -1, gid: 0 } } }), [`Invalid ${at}.user.linux.uid`])
  assert.deepEqual(one({ allocatedResourcesStatus: [{ name: 'example.com/x', resources: [{ health: 'Meh' }] }] }), [
    `Invalid ${at}.allocatedResourcesStatus[0].name`,
    `NotSupported ${at}.allocatedResourcesStatus[0].resources[0].health`,
  ])
})

test('later Kubernetes versions report some container errors with different paths and reasons', () => {
  const at = 'spec.containers[0]'
  const policy = container({ terminationMessagePolicy: 'x' })
  const ports = { hostNetwork: true, ...container({ ports: [{ containerPort: 80, hostPort: 81 }] }) }
  assertRows([
    ['1.25', policy, `Invalid ${at}.terminationMessagePolicy`],
    ['1.26', policy, `NotSupported ${at}.terminationMessagePolicy`],
    ['1.27', ports, `Invalid ${at}.ports[0].containerPort`],
    ['1.28', ports, `Invalid ${at}.ports[0].hostPort`],
  ])
})

test('since Kubernetes 1.28, host ports get defaults only in pods, not in pod templates', () => {
  const spec = { hostNetwork: true, ...container({ ports: [{ containerPort: 80 }] }) }
  const hostPort = (kind: Kind, sent: JsonObject, version: EmulatedVersion) => {
    const { object, faults } = createBy(kind, sent, { version })
    return [JSON.stringify(object).includes('"hostPort":80'), faults]
  }
  assert.deepEqual(hostPort(pod, podWith(spec), '1.28'), [true, []])
  const template = { metadata: { name: 'a', namespace: 'b' }, template: { spec } }
  assert.deepEqual(hostPort(podTemplate, template, '1.27'), [true, []])
  assert.deepEqual(hostPort(podTemplate, template, '1.28'), [false, []])
})

test('since Kubernetes 1.36, addresses are validated strictly in new pods and when they change in a pod status', () => {
  const spec = { hostAliases: [{ ip: '010.0.0.1', hostnames: ['a'] }], dnsConfig: { nameservers: ['::ffff:1.2.3.4'] } }
  assertRows([
    ['1.35', spec],
    ['1.36', spec, 'Invalid spec.dnsConfig.nameservers[0]', 'Invalid spec.hostAliases[0].ip'],
  ])
  const status = { podIPs: [{ ip: '10.01.0.1' }], podIP: '10.01.0.1' }
  const update = (version: EmulatedVersion, previous: JsonObject) => {
    const { object } = createBy(pod, podWith(), { version })
    const sent = { ...podWith(), status: { ...status, phase: 'Running' } }
    return updateBy(pod, { ...object, ...previous }, sent, { version, subresource: 'status' }).faults
  }
  assert.deepEqual(update('1.35', {}), [])
  assert.deepEqual(update('1.36', {}), ['Invalid status.podIPs[0]'])
  assert.deepEqual(update('1.36', { status }), [])
})

test('since Kubernetes 1.33, an invalid condition type of a pod is reported at a different path', () => {
  const faults = (version: EmulatedVersion) => {
    const { object } = createBy(pod, podWith(), { version })
    const sent = { ...podWith(), status: { conditions: [{ type: 'not good!', status: 'True' }] } }
    return updateBy(pod, object, sent, { version, subresource: 'status' }).faults
  }
  assert.deepEqual(faults('1.32'), ['Invalid metadata.conditions[0].Type'])
  assert.deepEqual(faults('1.33'), ['Invalid status.conditions[0].Type'])
})

test('the counts of ready containers and restarts include started sidecars', () => {
  const running = { running: { startedAt: '2030-01-01T00:00:00Z' } }
  const status = (name: string, restartCount: number, parts: JsonObject = {}) => ({
    name,
    restartCount,
    ready: true,
    started: true,
    state: running,
    ...parts,
  })
  const cells = (initStatuses: JsonObject[], statuses: JsonObject[], more: JsonObject = {}) => {
    const { object } = createBy(pod, podWith(init({ restartPolicy: 'Always' })), { version: '1.36' })
    const reported = { phase: 'Running', initContainerStatuses: initStatuses, containerStatuses: statuses, ...more }
    return cellsOf(pod, { ...object, status: reported } as typeof object, '1.36').slice(1, 4)
  }
  const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } }, ready: false, started: false }
  assert.deepEqual(cells([status('i', 2)], [status('main', 1)]), ['2/2', 'Running', '3'])
  assert.deepEqual(cells([status('i', 2, { ready: false })], [status('main', 1)]), ['1/2', 'Running', '3'])
  assert.deepEqual(cells([status('i', 2, waiting)], [status('main', 1)]), ['0/2', 'Init:CrashLoopBackOff', '2'])
  const conditions = [{ type: 'Initialized', status: 'True' }]
  assert.deepEqual(cells([status('i', 2, waiting)], [status('main', 1)], { conditions }), [
    '1/2',
    'Init:CrashLoopBackOff',
    '3',
  ])
})

test('if the ImageVolume feature is disabled, image volumes are dropped together with their mounts', () => {
  const spec = {
    ...container({ volumeMounts: [{ name: 'v', mountPath: '/a' }] }),
    volumes: [{ name: 'v', image: { reference: 'x:1' }, emptyDir: {} }],
  }
  const { object, faults } = createBy(pod, podWith(spec), { version: '1.34' })
  assert.deepEqual([faults, JSON.stringify(object).includes('olume')], [[], false])
  const lost = 'NotFound spec.containers[0].volumeMounts[0].name'
  assertRows([['1.35', spec, 'Forbidden spec.volumes[0].image', lost]])
})

test('claims keep their VolumeAttributesClass while the feature gate is disabled', () => {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const spec = (volumeAttributesClassName: string) => ({
    volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { ...claim, volumeAttributesClassName } } } }],
  })
  const { object, faults } = createBy(pod, podWith(spec('G_')), { version: '1.31' })
  assert.deepEqual([faults, JSON.stringify(object).includes('G_')], [[], true])
  const path = 'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName'
  assertRows([['1.34', spec('G_'), `Invalid ${path}`]])
})

test('since Kubernetes 1.30, the condition of a gated pod has a transition time', () => {
  const timeOf = (version: EmulatedVersion) => {
    const { object } = createBy(pod, podWith({ schedulingGates: [{ name: 'g' }] }), { version })
    return JSON.stringify(object).includes('"lastTransitionTime":"')
  }
  assert.deepEqual([timeOf('1.29'), timeOf('1.30')], [false, true])
})

/** Enables feature gates that are off by default, and returns the validation errors for a new pod. */
function gatedFaults(version: EmulatedVersion, spec: JsonObject): readonly string[] {
  const gates = new Set([
    ...defaultGatesOf(version),
    'ClusterTrustBundleProjection' as const,
    'PodCertificateRequest' as const,
    'GenericWorkload' as const,
  ])
  return createBy(pod, podWith(spec), { version, gates }).faults
}

test('a projected certificate requires a trust bundle or a signer, and valid file paths', () => {
  const place = 'spec.volumes[0].projected.sources[0].'
  const projected = (source: JsonObject) => ({ volumes: [{ name: 'v', projected: { sources: [source] } }] })
  const bundle = (parts: JsonObject) => projected({ clusterTrustBundle: { path: 'ca.pem', ...parts } })
  const certificate = (parts: JsonObject) =>
    projected({ podCertificate: { signerName: 'example.com/s', keyType: 'ED25519', keyPath: 'k.pem', ...parts } })
  const signer = { signerName: 'example.com/s' }
  const labels = { labelSelector: { matchLabels: { a: 'b' } } }
  const rows: readonly Row[] = [
    ['1.36', bundle({ name: 'x' })],
    ['1.36', bundle({ name: 'example.com:s:x' })],
    ['1.36', bundle({ ...signer, ...labels })],
    ['1.36', bundle({}), `Required ${place}clusterTrustBundle`],
    ['1.33', bundle({}), `Required ${place}clusterTrustBundlePEM`],
    ['1.36', bundle({ name: 'x', ...signer }), `Invalid ${place}clusterTrustBundle`],
    ['1.36', bundle({ name: 'x', ...labels }), `Invalid ${place}clusterTrustBundle.labelSelector`],
    ['1.36', bundle({ name: 'a:B' }), `Invalid ${place}clusterTrustBundle.name`],
    ['1.36', bundle({ signerName: 's' }), `Invalid ${place}clusterTrustBundle.signerName`],
    ['1.36', bundle({ name: 'x', path: '' }), `Required ${place}clusterTrustBundle.path`],
    ['1.36', bundle({ name: 'x', path: '..a' }), `Invalid ${place}clusterTrustBundle.path`],
    ['1.36', certificate({ maxExpirationSeconds: 3600 })],
    ['1.36', certificate({ maxExpirationSeconds: 3599 }), `Invalid ${place}podCertificate.maxExpirationSeconds`],
    ['1.36', certificate({ keyPath: '' }), `Required ${place}podCertificate`],
    ['1.36', certificate({ keyPath: '/k' }), `Invalid ${place}podCertificate.keyPath`],
    ['1.36', certificate({ keyType: 'RSA1' }), `NotSupported ${place}podCertificate.keyType`],
    ['1.36', certificate({ signerName: '' }), `Required ${place}podCertificate.signerName`],
    ['1.36', certificate({ certificateChainPath: 'k.pem' }), 'Invalid spec.volumes[0].projected'],
    ['1.35', certificate({ userAnnotations: { '-': '' } }), `Invalid ${place}podCertificate.userAnnotations`],
  ]
  for (const [version, spec, ...faults] of rows)
    assert.deepEqual(gatedFaults(version, spec), faults, `${version} ${JSON.stringify(spec)}`)
})

test('a pod whose Workload reference contains an invalid name is rejected', () => {
  const workloadRef = { name: 'a.b', podGroup: 'g' }
  assert.deepEqual(gatedFaults('1.35', { workloadRef }), [])
  assert.deepEqual(gatedFaults('1.35', { workloadRef: { name: 'A', podGroup: 'a.b', podGroupReplicaKey: '-' } }), [
    'Invalid spec.workloadRef.name',
    'Invalid spec.workloadRef.podGroup',
    'Invalid spec.workloadRef.podGroupReplicaKey',
  ])
})

test('the allocated resources in a pod status must list each claim only once and refer only to containers of the pod', () => {
  const gates = new Set([...defaultGatesOf('1.36'), 'DRANodeAllocatableResources' as const])
  const { object } = createBy(pod, podWith(), { version: '1.36' })
  const faults = (...nodeAllocatableResourceClaimStatuses: JsonObject[]) =>
    updateBy(pod, object, asJson({ ...object, status: { nodeAllocatableResourceClaimStatuses } }), {
      version: '1.36',
      subresource: 'status',
      gates,
    }).faults
  const status = { resourceClaimName: 'c', containers: ['main'], resources: { cpu: '1' } }
  const path = 'status.nodeAllocatableResourceClaimStatuses'
  assert.deepEqual(faults(status), [])
  assert.deepEqual(faults(status, status), [`Duplicate ${path}[1].resourceClaimName`])
  assert.deepEqual(faults({ ...status, containers: ['x'], resources: { cpu: '-1' } }), [
    `Invalid ${path}[0].containers[0]`,
    `Invalid ${path}[0].resources[cpu]`,
  ])
  assert.deepEqual(faults({ resourceClaimName: '', resources: {} }), [
    `Required ${path}[0].resourceClaimName`,
    `Required ${path}[0].resources`,
  ])
})
