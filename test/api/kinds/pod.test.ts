/** Tests Pod: defaults, validation tables, updates and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { pod } from '../../../src/api/kinds/core/pod.ts'
import { podTemplate } from '../../../src/api/kinds/core/pod-template.ts'
import { tagOf } from '../../../src/api/kinds/core/types/image.ts'
import { type ApiObject, asJson } from '../../../src/api/model/object.ts'
import { createBy, ruleContext, updateBy } from './rules.ts'

const main = { name: 'main', image: 'app:1' }

test('unset fields of a new pod are set to their defaults', () => {
  const { spec, status } = made({ containers: [main] })
  assert.deepEqual(spec, {
    containers: [
      {
        ...main,
        imagePullPolicy: 'IfNotPresent',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  })
  assert.deepEqual(status, { phase: 'Pending', qosClass: 'BestEffort' })
})

test('explicit zero values are kept in pod fields that distinguish zero from unset', () => {
  const kept = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, enableServiceLinks: false }
  const { spec } = made({ containers: [{ ...main, stdin: false }], hostNetwork: false, ...kept })
  for (const [name, value] of Object.entries(kept)) assert.equal(spec[name], value)
  assert.equal('hostNetwork' in spec || 'stdin' in partOf(spec, 'containers'), false)
})

test('pod fields of disabled features are dropped or reset to their defaults', () => {
  const probe = { grpc: { port: 80 }, terminationGracePeriodSeconds: 5 }
  const sent = { ...main, livenessProbe: probe, securityContext: { procMount: 'Unmasked' } }
  const kept = createBy(podTemplate, template({ spec: { containers: [sent] } })).object
  for (const spec of [
    made({ containers: [sent], os: { name: 'linux' } }).spec,
    (asJson(kept).template as JsonObject).spec as JsonObject,
  ]) {
    const { livenessProbe, securityContext } = partOf(spec, 'containers')
    const { grpc, terminationGracePeriodSeconds } = livenessProbe as JsonObject
    assert.deepEqual([grpc, terminationGracePeriodSeconds], [{ port: 80, service: '' }, undefined])
    assert.deepEqual(securityContext, { procMount: 'Default' })
    assert.equal(spec.os, undefined)
  }
})

test('serviceAccount and serviceAccountName of a pod always have the same value', () => {
  const accounts = (spec: JsonObject) => {
    const { serviceAccount, serviceAccountName } = made({ containers: [main], ...spec }).spec
    return [serviceAccount, serviceAccountName]
  }
  assert.deepEqual(accounts({ serviceAccount: 'old' }), ['old', 'old'])
  assert.deepEqual(accounts({ serviceAccount: 'old', serviceAccountName: 'new' }), ['new', 'new'])
  assert.deepEqual(accounts({}), [undefined, undefined])
})

test('tagOf() returns the tag of an image reference', () => {
  const cases = [
    ['app', 'latest'],
    ['host:5000/app', 'latest'],
    ['host:5000/team/app:v2', 'v2'],
    ['localhost/a_b--c.d', 'latest'],
    [`app@sha256:${'0'.repeat(64)}`, ''],
    [`app:v3@sha256:${'0'.repeat(64)}`, 'v3'],
    ['App', ''],
    ['app@sha256:short', ''],
    ['app:-x', ''],
    ['', ''],
    ['a'.repeat(100_000), ''],
  ] as const
  for (const [image, tag] of cases) assert.equal(tagOf(image), tag, image.slice(0, 50))
})

test('the pull policy of images with the tag latest defaults to Always', () => {
  const policyOf = (container: JsonObject) =>
    partOf(made({ containers: [{ name: 'c', ...container }] }).spec, 'containers').imagePullPolicy
  assert.equal(policyOf({ image: 'app' }), 'Always')
  assert.equal(policyOf({ image: 'app:2' }), 'IfNotPresent')
  assert.equal(policyOf({ image: 'app', imagePullPolicy: 'Never' }), 'Never')
})

test('host ports default to the container ports if the pod uses the host network', () => {
  const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', hostPort: 53 }]
  const containers = [{ ...main, ports }]
  const portsOf = (spec: JsonObject) => partOf(made(spec).spec, 'containers').ports
  assert.deepEqual(portsOf({ containers }), [{ containerPort: 80, protocol: 'TCP' }, ports[1]])
  assert.deepEqual(portsOf({ containers, hostNetwork: true }), [
    { containerPort: 80, hostPort: 80, protocol: 'TCP' },
    ports[1],
  ])
})

test('resource requests default to limits in a pod but not in a pod template', () => {
  const resources = { limits: { cpu: '0.0005', 'example.org/gpu': '2' }, requests: { memory: '1Mi' } }
  const limits = { cpu: '1m', 'example.org/gpu': '2' }
  const containers = [{ ...main, resources }]
  const got = partOf(made({ containers }).spec, 'containers').resources
  assert.deepEqual(got, { limits, requests: { ...limits, memory: '1Mi' } })
  const { object } = createBy(podTemplate, template({ spec: { containers } }))
  const templateSpec = (asJson(object).template as JsonObject).spec as JsonObject
  assert.deepEqual(partOf(templateSpec, 'containers').resources, { limits, requests: { memory: '1Mi' } })
  assert.equal(templateSpec.enableServiceLinks, undefined)
})

test('the QoS class of a pod depends on requests and limits', () => {
  const full = { cpu: '1', memory: '1Gi' }
  const cases: readonly (readonly [string, ...JsonObject[]])[] = [
    ['BestEffort', {}],
    ['BestEffort', { limits: { 'example.org/gpu': '1' } }],
    ['Burstable', { requests: { cpu: '1' } }],
    ['Burstable', { limits: full, requests: { cpu: '500m' } }],
    ['Burstable', { limits: full }, {}],
    ['Guaranteed', { limits: full, requests: { memory: '1024Mi' } }],
    ['Guaranteed', { limits: full }, { limits: { cpu: '2', memory: '1' } }],
  ]
  for (const [quality, ...all] of cases) {
    const containers = all.map((resources, i) => ({ ...main, name: `c${i}`, resources }))
    assert.equal(made({ containers }).status.qosClass, quality, JSON.stringify(all))
  }
})

const ref = (fieldPath: string) => ({ name: 'V', valueFrom: { fieldRef: { fieldPath } } })

/** Invalid containers with the expected errors. Paths are relative to the container. */
const badContainers: readonly (readonly [sent: JsonObject, ...faults: string[]])[] = [
  [{ name: '', image: '' }, 'Required image', 'Required name'],
  [{ ports: [{ name: '1-2', containerPort: 1 }] }, 'Invalid ports[0].name'],
  [
    { ports: [{ name: 'sixteen-letters-', containerPort: 1, protocol: 'X' }] },
    'Invalid ports[0].name',
    'NotSupported ports[0].protocol',
  ],
  [{ env: [{ name: '..a' }, { name: 'A' }, { name: 'A' }] }, 'Invalid env[0].name'],
  [{ env: [ref('metadata.annotations')] }, 'NotSupported env[0].valueFrom.fieldRef.fieldPath'],
  [{ env: [ref("metadata.labels['a/b/c']")] }, 'Invalid env[0].valueFrom.fieldRef'],
  [{ env: [ref("metadata.labels['a']"), ref('status.podIPs')] }],
  [
    { env: [ref("spec.nodeName['a']"), ref('spec.tolerations')] },
    'Invalid env[0].valueFrom.fieldRef.fieldPath',
    'Invalid env[1].valueFrom.fieldRef.fieldPath',
  ],
  [
    { env: [{ name: 'R', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '3Mi' } } }] },
    'Invalid env[0].valueFrom.resourceFieldRef.divisor',
  ],
  [
    { envFrom: [{ prefix: '0', secretRef: { name: 'A_' } }] },
    'Invalid envFrom[0].prefix',
    'Invalid envFrom[0].secretRef.name',
  ],
  [{ livenessProbe: { tcpSocket: { port: 'no_port' } } }, 'Invalid livenessProbe.tcpSocket.port'],
  [{ startupProbe: { exec: { command: ['a'] }, successThreshold: 2 } }, 'Invalid startupProbe.successThreshold'],
  [{ readinessProbe: { exec: { command: ['a'] }, successThreshold: 2 } }],
  [{ readinessProbe: { grpc: { port: 1 } } }],
  [{ livenessProbe: { grpc: {} } }, 'Invalid livenessProbe.grpc.port'],
  [{ startupProbe: { tcpSocket: { port: 1 }, grpc: { port: 1 } } }, 'Forbidden startupProbe.grpc'],
  [{ lifecycle: { preStop: { grpc: { port: 1 } } } }, 'Required lifecycle.preStop'],
  [
    { readinessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 5 } },
    'Invalid readinessProbe.terminationGracePeriodSeconds',
  ],
  [{ livenessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 0 } }],
  [
    { lifecycle: { preStop: { httpGet: { port: 1, httpHeaders: [{ name: 'a b' }] } } } },
    'Invalid lifecycle.preStop.httpGet.httpHeaders',
  ],
  [
    { lifecycle: { preStop: {}, postStart: { tcpSocket: { port: 0 }, httpGet: { port: 1 } } } },
    'Forbidden lifecycle.postStart.tcpSocket',
    'Required lifecycle.preStop',
  ],
  [{ resources: { requests: { 'hugepages-2Mi': '2Mi' } } }, 'Forbidden resources', 'Required resources.limits'],
  [
    { resources: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } } },
    'Invalid resources.limits[hugepages-2Mi]',
    'Invalid resources.requests[hugepages-2Mi]',
  ],
  [
    { resources: { limits: { 'a/b': '1', 'example.org/x': '1' }, requests: { 'example.org/x': '2', 'a/b': '1' } } },
    'Invalid resources.requests',
  ],
  [{ resources: { requests: { pods: '1', 'orch.io/any': '1500m' } } }, 'Invalid resources.requests[pods]'],
  [{ securityContext: { runAsUser: 2 ** 31, runAsGroup: 0 } }, 'Invalid securityContext.runAsUser'],
  [
    { securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } } },
    'Invalid securityContext',
  ],
  [
    { securityContext: { seccompProfile: { type: 'Unconfined', localhostProfile: 'p' } } },
    'Invalid securityContext.seccompProfile.localhostProfile',
  ],
  [{ securityContext: { seccompProfile: {} } }, 'Required securityContext.seccompProfile.type'],
  [
    { securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c', gmsaCredentialSpec: '' } } },
    'Invalid securityContext.windowsOptions.gmsaCredentialSpec',
    'Invalid securityContext.windowsOptions.runAsUserName',
  ],
  [{ securityContext: { procMount: 'Anything' } }],
  [{ securityContext: { windowsOptions: { runAsUserName: 'corp.example.com\\user' } } }],
  [
    { securityContext: { windowsOptions: { runAsUserName: 'a_domain_of_16_c\\user' } } },
    'Invalid securityContext.windowsOptions.runAsUserName',
  ],
  [
    { securityContext: { seccompProfile: { type: 'Other', localhostProfile: 'a' } } },
    'Invalid securityContext.seccompProfile.localhostProfile',
    'NotSupported securityContext.seccompProfile.type',
  ],
]

test('a pod with invalid containers is rejected, and each error contains its path', () => {
  for (const [sent, ...faults] of badContainers) {
    const got = createBy(pod, asPod({ containers: [{ ...main, ...sent }] })).faults
    assert.deepEqual(got, faults.map(below('spec.containers[0]')).sort(), JSON.stringify(sent))
  }
})

function withHostPorts(...ports: readonly number[]): JsonObject {
  return { name: `p${ports.join('-')}`, image: 'i', ports: ports.map((hostPort) => ({ containerPort: 1, hostPort })) }
}

const iscsiName = 'iqn.2001-04.com.example:a'

/** Invalid pod specs with the expected errors. Paths are relative to the spec. */
const badSpecs: readonly (readonly [sent: JsonObject, ...faults: string[]])[] = [
  [
    { containers: [main, { ...main, image: 'b:1' }], initContainers: [main] },
    'Duplicate containers[1].name',
    'Duplicate initContainers[0].name',
  ],
  [
    { initContainers: [{ ...main, name: 'i', lifecycle: {}, startupProbe: { exec: { command: ['a'] } } }] },
    'Invalid initContainers[0].lifecycle',
    'Invalid initContainers[0].startupProbe',
  ],
  [
    { initContainers: [{ ...main, name: 'i' }, withHostPorts(80, 80), withHostPorts(80, 81)] },
    'Duplicate initContainers[0].ports[1].hostPort',
  ],
  [{ containers: [withHostPorts(80), withHostPorts(81, 80)] }, 'Duplicate containers[1].ports[1].hostPort'],
  [
    { ephemeralContainers: [{ ...main, name: 'e', targetContainerName: 'x' }] },
    'Forbidden ephemeralContainers',
    'NotFound ephemeralContainers[0].targetContainerName',
  ],
  [
    { serviceAccountName: 'A', runtimeClassName: '', priorityClassName: 'b_' },
    'Invalid priorityClassName',
    'Invalid runtimeClassName',
    'Invalid serviceAccountName',
  ],
  [{ activeDeadlineSeconds: 2 ** 31 }, 'Invalid activeDeadlineSeconds'],
  [{ preemptionPolicy: 'Maybe' }, 'NotSupported preemptionPolicy'],
  [{ dnsPolicy: 'None', dnsConfig: { searches: ['a.'] } }, 'Required dnsConfig.nameservers'],
  [
    { dnsConfig: { nameservers: ['1.1.1.1', '::1', 'x', '1.1.1.1'], options: [{ value: 'v' }] } },
    'Invalid dnsConfig.nameservers',
    'Invalid dnsConfig.nameservers[2]',
    'Required dnsConfig.options[0]',
  ],
  [{ dnsConfig: { searches: Array(7).fill('a'.repeat(63)) } }, 'Invalid dnsConfig.searches'],
  [
    { hostAliases: [{ ip: '300.1.1.1', hostnames: ['A_'] }] },
    'Invalid hostAliases.hostnames',
    'Invalid hostAliases.ip',
  ],
  [{ hostPID: true, shareProcessNamespace: true }, 'Invalid securityContext.shareProcessNamespace'],
  [{ readinessGates: [{ conditionType: 'a b' }] }, 'Invalid readinessGates[0].conditionType'],
  [{ overhead: { cpu: '-1' } }, 'Invalid overhead.limits[cpu]'],
  [{ nodeSelector: { a: 'b c' } }, 'Invalid nodeSelector'],
  [{ tolerations: [{ operator: 'Exists' }, { key: 'a', effect: 'NoExecute', tolerationSeconds: 0 }] }],
  [
    { topologySpreadConstraints: Array(2).fill({ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }) },
    'Duplicate topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}',
  ],
  [
    {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { 'a b': '?' }, matchExpressions: [{ key: '', operator: 'Near' }] },
        },
      ],
    },
  ],
  [
    { securityContext: { fsGroupChangePolicy: 'Sometimes', sysctls: [{ value: '1' }, { name: 'a..b' }] } },
    'Invalid securityContext.sysctls[1].name',
    'NotSupported securityContext.fsGroupChangePolicy',
    'Required securityContext.sysctls[0].name',
  ],
  [{ securityContext: { windowsOptions: { hostProcess: true } } }, 'Invalid hostNetwork'],
  [
    {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'z',
              namespaces: ['A'],
              namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
            },
          ],
        },
      },
    },
    'Invalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace',
    'Required affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector.matchExpressions[0].values',
  ],
  [{ os: { name: 'anything' } }],
  [{ dnsPolicy: 'None', dnsConfig: { searches: ['A_'], options: [{}] } }, 'Required dnsConfig.nameservers'],
  [
    { dnsConfig: { searches: ['A_'], options: [{}] } },
    'Invalid dnsConfig.searches[0]',
    'Required dnsConfig.options[0]',
  ],
  [{ hostAliases: [{ ip: '010.0.0.1' }], dnsConfig: { nameservers: ['8.08.8.8'] } }],
  [
    {
      volumes: [
        { name: 'v', iscsi: { targetPortal: 'h'.repeat(63), iqn: iscsiName, lun: 0, initiatorName: iscsiName } },
      ],
    },
    'Invalid volumes[0].name',
  ],
]

test('a pod with an invalid spec is rejected, and each error contains its path', () => {
  for (const [sent, ...faults] of badSpecs) {
    const got = createBy(pod, asPod({ containers: [main], ...sent })).faults
    assert.deepEqual(got, faults.map(below('spec')).sort(), JSON.stringify(sent))
  }
})

test('validation errors of ephemeral containers have paths such as ephemeralContainers[0][0]', () => {
  const sent = asPod({ containers: [main] })
  const { object } = createBy(pod, sent)
  const cases: readonly (readonly [sent: JsonObject, ...faults: string[]])[] = [
    [{ name: 'e', image: 'i' }],
    [{ name: 'e' }, 'Required spec.ephemeralContainers[0][0].image'],
    [{ env: [{}] }, 'Required spec.ephemeralContainers[0]'],
    [{ name: 'main', image: 'i' }, 'Duplicate spec.ephemeralContainers[0].name'],
    [
      { name: 'E', image: 'i', env: [{ name: '' }], tty: true, ports: [{}] },
      'Forbidden spec.ephemeralContainers[0].ports',
      'Invalid spec.ephemeralContainers[0][0].name',
      'Required spec.ephemeralContainers[0][0].env[0].name',
      'Required spec.ephemeralContainers[0][0].ports[0].containerPort',
    ],
    [{ name: 'e', image: ' i' }, 'Invalid spec.ephemeralContainers[0][0].image'],
    [{ volumeMounts: [{ name: 'gone', mountPath: '/a' }] }, 'Required spec.ephemeralContainers[0]'],
    [{ name: 'e', image: 'i', targetContainerName: 'main' }],
    [{ name: 'e', image: 'i', targetContainerName: 'e' }, 'NotFound spec.ephemeralContainers[0].targetContainerName'],
    [
      { name: 'e', image: 'i', volumeMounts: [{ name: 'gone', mountPath: '/a', subPath: 'b' }] },
      'Forbidden spec.ephemeralContainers[0].volumeMounts[0].subPath',
      'NotFound spec.ephemeralContainers[0][0].volumeMounts[0].name',
    ],
  ]
  for (const [one, ...faults] of cases) {
    const next = asPod({ containers: [main], ephemeralContainers: [one] })
    const got = updateBy(pod, object, next, { subresource: 'ephemeralcontainers' }).faults
    assert.deepEqual(got, faults, JSON.stringify(one))
  }
})

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

/** Volume sources with the stored form or the expected errors. Paths are relative to the volume. */
const volumes: readonly (readonly [sent: JsonObject, added: JsonObject | undefined, ...faults: string[]])[] = [
  [{}, { emptyDir: {} }],
  [{ secret: { secretName: 'S S' } }, { secret: { secretName: 'S S', defaultMode: 420 } }],
  [
    { secret: { secretName: 's', items: [{ key: 'k', path: 'a/..b/c', mode: 0 }] } },
    { secret: { secretName: 's', defaultMode: 420, items: [{ key: 'k', path: 'a/..b/c', mode: 0 }] } },
  ],
  [
    { configMap: { name: 'c', defaultMode: 0o1000, items: [{ key: 'k', path: '..' }] } },
    undefined,
    'Invalid configMap.defaultMode',
    'Invalid configMap.items[0].path',
  ],
  [
    {
      downwardAPI: {
        items: [
          { path: 'a', fieldRef: { fieldPath: 'metadata.uid' } },
          { path: 'b', fieldRef: { fieldPath: 'status.hostIP' } },
        ],
      },
    },
    undefined,
    'NotSupported downwardAPI.fieldRef.fieldPath',
  ],
  [
    {
      projected: {
        sources: [
          { serviceAccountToken: { path: 'a', expirationSeconds: 1 } },
          { downwardAPI: { items: [{ path: 'a', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } }] } },
        ],
      },
    },
    undefined,
    'Forbidden projected.sources[0].serviceAccountToken',
    'Invalid projected',
    'Invalid projected.sources[0].serviceAccountToken.expirationSeconds',
  ],
  [{ nfs: { server: 's', path: 'p' }, csi: { driver: '_' } }, undefined, 'Forbidden csi', 'Invalid nfs.path'],
  [{ emptyDir: { sizeLimit: '-1Mi' } }, undefined, 'Forbidden emptyDir.sizeLimit'],
  [{ csi: { driver: 'Drive.r', nodePublishSecretRef: {} } }, undefined, 'Required csi.nodePublishSecretRef.name'],
  [{ csi: { driver: 'Drive.r', nodePublishSecretRef: { name: 'A_' } } }, undefined, 'Invalid csi.name'],
  [{ cinder: { volumeID: 'v', secretRef: {} } }, undefined, 'Required cinder.secretRef.name'],
  [{ storageos: { volumeName: 'v', secretRef: {} } }, undefined, 'Required storageos.secretRef.name'],
  [{ cephfs: { monitors: ['m'], secretRef: {} } }, { cephfs: { monitors: ['m'], secretRef: {} } }],
  [
    {
      ephemeral: { volumeClaimTemplate: { spec: { ...claimSpec, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] } } },
    },
    undefined,
    'Forbidden ephemeral.volumeClaimTemplate.spec.accessModes',
    'NotSupported ephemeral.volumeClaimTemplate.spec.accessModes',
  ],
  [
    { ephemeral: { volumeClaimTemplate: { spec: { ...claimSpec, dataSourceRef: { kind: 'A', name: 'b' } } } } },
    { ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { ...claimSpec, volumeMode: 'Filesystem' } } } },
  ],
  [
    {
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { annotations: { 'a b': '' }, uid: 'u' },
          spec: { ...claimSpec, resources: { requests: { storage: '0' } }, dataSource: { kind: 'Secret' } },
        },
      },
    },
    undefined,
    'Forbidden ephemeral.volumeClaimTemplate.metadata.uid',
    'Invalid ephemeral.volumeClaimTemplate.metadata.annotations',
    'Invalid ephemeral.volumeClaimTemplate.spec.dataSource',
    'Invalid ephemeral.volumeClaimTemplate.spec.resources[storage]',
    'Required ephemeral.volumeClaimTemplate.spec.dataSource.name',
  ],
]

test('the volumes of a pod get defaults, and invalid volumes are rejected', () => {
  for (const [sent, added, ...faults] of volumes) {
    const outcome = createBy(pod, asPod({ containers: [main], volumes: [{ name: 'v', ...sent }] }))
    assert.deepEqual(outcome.faults, faults.map(below('spec.volumes[0]')).sort(), JSON.stringify(sent))
    if (added) assert.deepEqual(partOf(specOf(outcome.object), 'volumes'), { name: 'v', ...added })
  }
})

test('the volume mounts and devices of a container must refer to suitable volumes of the pod', () => {
  const all = [
    { name: 'dir', emptyDir: {} },
    { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'own', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } },
    { name: 'bad', secret: {} },
    { name: 'bad', emptyDir: {} },
    { name: 'dir', emptyDir: {} },
  ]
  const volumeFaults = ['Duplicate spec.volumes[5].name', 'Required spec.volumes[3].secret.secretName']
  const cases: readonly (readonly [sent: JsonObject, ...faults: string[]])[] = [
    [
      {
        volumeMounts: [
          { name: 'dir', mountPath: '/a' },
          { name: 'bad', mountPath: '/b' },
          { name: 'dir', mountPath: '/c' },
        ],
      },
    ],
    [{ volumeMounts: [{ name: 'gone', mountPath: '/a' }] }, 'NotFound volumeMounts[0].name'],
    [
      {
        volumeDevices: [
          { name: 'own', devicePath: '/a' },
          { name: 'dir', devicePath: '/b' },
        ],
      },
      'Invalid volumeDevices[1].name',
    ],
    [
      { volumeMounts: [{ name: 'claim', mountPath: '/a' }], volumeDevices: [{ name: 'claim', devicePath: '/b' }] },
      'Invalid volumeDevices[0].name',
      'Invalid volumeMounts[0].name',
    ],
    [
      {
        volumeMounts: [
          { name: 'dir', mountPath: '/a' },
          { name: 'dir', mountPath: '/b' },
        ],
        volumeDevices: [
          { name: 'claim', devicePath: '/a' },
          { name: 'own', devicePath: '/b' },
        ],
      },
      'Invalid volumeDevices[1].devicePath',
      'Invalid volumeMounts[0].mountPath',
      'Invalid volumeMounts[1].mountPath',
    ],
  ]
  for (const [sent, ...faults] of cases) {
    const got = createBy(pod, asPod({ containers: [{ ...main, ...sent }], volumes: all })).faults
    assert.deepEqual(got, [...faults.map(below('spec.containers[0]')), ...volumeFaults].sort(), JSON.stringify(sent))
  }
})

test('a pod must not use the claim of its own ephemeral volume through another volume', () => {
  const ephemeral = { volumeClaimTemplate: { spec: claimSpec } }
  const claim = (claimName: string) => ({ name: 'c', persistentVolumeClaim: { claimName } })
  const faultsOf = (claimName: string) =>
    createBy(pod, asPod({ containers: [main], volumes: [{ name: 'v', ephemeral }, claim(claimName)] })).faults
  assert.deepEqual(faultsOf('p-v'), ['Invalid spec.volumes[1].persistentVolumeClaim.claimName'])
  assert.deepEqual(faultsOf('other'), [])
})

test('only images, the active deadline and tolerations of a pod are mutable', () => {
  const before = { containers: [main], activeDeadlineSeconds: 10, tolerations: [{ key: 'a', operator: 'Exists' }] }
  const cases: readonly (readonly [change: JsonObject, ...faults: string[]])[] = [
    [{}],
    [{ containers: [{ ...main, image: 'other:1' }] }],
    [{ containers: [{ ...main, image: ' other' }] }, 'Invalid spec.containers[0].image'],
    [{ containers: [{ ...main, args: ['a'] }] }, 'Forbidden spec'],
    [{ containers: [{ ...main, name: 'other' }] }, 'Forbidden spec'],
    [{ initContainers: [{ ...main, name: 'i' }] }, 'Forbidden spec.initContainers'],
    [
      { containers: [main, { ...main, name: 'b' }], initContainers: [{ ...main, name: 'i' }] },
      'Forbidden spec.containers',
    ],
    [{ activeDeadlineSeconds: 9 }],
    [{ activeDeadlineSeconds: 11 }, 'Invalid spec.activeDeadlineSeconds'],
    [{ activeDeadlineSeconds: 11, hostname: 'h' }, 'Invalid spec.activeDeadlineSeconds'],
    [{ activeDeadlineSeconds: null, hostname: 'h' }, 'Forbidden spec', 'Invalid spec.activeDeadlineSeconds'],
    [{ tolerations: [{ operator: 'Exists' }, ...before.tolerations] }],
    [{ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }] }, 'Forbidden spec.tolerations'],
    [{ hostname: 'h' }, 'Forbidden spec'],
    [{ terminationGracePeriodSeconds: 1 }, 'Forbidden spec'],
  ]
  const { object } = createBy(pod, asPod(before))
  for (const [change, ...faults] of cases) {
    const next = updateBy(pod, object, asPod({ ...before, ...change }))
    assert.deepEqual(next.faults, faults, JSON.stringify(change))
  }
})

test('an update may change a negative termination grace period of a pod to 1', () => {
  const { object } = createBy(pod, asPod({ containers: [main], terminationGracePeriodSeconds: -5 }))
  const faultsOf = (seconds: number) =>
    updateBy(pod, object, asPod({ containers: [main], terminationGracePeriodSeconds: seconds })).faults
  assert.deepEqual([faultsOf(1), faultsOf(2)], [[], ['Forbidden spec']])
})

test('a pod status update can neither restart terminated containers nor set invalid addresses', () => {
  const ended = { name: 'c', state: { terminated: { exitCode: 0 } } }
  const failed = { name: 'c', state: { terminated: { exitCode: 1 } } }
  const runs = { name: 'c', state: { running: {} } }
  const cases: readonly (readonly [policy: string, from: JsonObject, to: JsonObject, ...faults: string[]])[] = [
    ['Always', { containerStatuses: [ended] }, { containerStatuses: [runs] }],
    [
      'Never',
      { containerStatuses: [failed] },
      { containerStatuses: [runs] },
      'Forbidden status.containerStatuses[0].state',
    ],
    ['OnFailure', { containerStatuses: [failed] }, { containerStatuses: [runs] }],
    [
      'OnFailure',
      { containerStatuses: [ended] },
      { containerStatuses: [runs] },
      'Forbidden status.containerStatuses[0].state',
    ],
    ['Always', { initContainerStatuses: [ended] }, { initContainerStatuses: [runs] }],
    [
      'Always',
      { ephemeralContainerStatuses: [ended] },
      { ephemeralContainerStatuses: [runs] },
      'Forbidden status.ephemeralContainerStatuses[0].state',
    ],
    ['Always', { ephemeralContainerStatuses: [runs] }, { ephemeralContainerStatuses: [ended] }],
    [
      'OnFailure',
      { initContainerStatuses: [{ ...runs, name: 'b' }, ended] },
      { initContainerStatuses: [runs] },
      'Forbidden status.initContainerStatuses[1].state',
    ],
    ['Always', {}, { podIPs: [{ ip: '10.0.0.01' }, { ip: '::1' }] }],
    ['Always', {}, { podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }],
    [
      'Always',
      {},
      { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] },
      'Duplicate status.podIPs[1]',
      'Invalid status.podIPs',
    ],
    [
      'Always',
      {},
      { podIPs: [{ ip: '::1' }, { ip: '300.1.1.1' }] },
      'InternalError status.podIPs',
      'Invalid status.podIPs',
      'Invalid status.podIPs[1]',
    ],
    [
      'Always',
      {},
      { podIP: 'x', nominatedNodeName: 'N' },
      'Invalid status.nominatedNodeName',
      'Invalid status.podIPs[0]',
    ],
  ]
  const context = { subresource: 'status' }
  for (const [restartPolicy, from, to, ...faults] of cases) {
    const sent = asPod({ containers: [main], restartPolicy })
    const { object } = createBy(pod, sent)
    const previous = { ...object, status: from }
    const next = updateBy(pod, previous, { ...sent, status: to }, context)
    assert.deepEqual(next.faults, faults, JSON.stringify(to))
  }
})

test('the podIP of a pod always equals the first entry of podIPs', () => {
  const addresses = (status: JsonObject) => {
    const sent = asPod({ containers: [main] })
    const { object } = createBy(pod, sent)
    const next = asJson(updateBy(pod, object, { ...sent, status }, { subresource: 'status' }).object)
    const { podIP, podIPs } = next.status as JsonObject
    return [podIP, podIPs]
  }
  assert.deepEqual(addresses({ podIPs: [{ ip: '::1' }, { ip: '10.0.0.1' }] }), [
    '::1',
    [{ ip: '::1' }, { ip: '10.0.0.1' }],
  ])
  assert.deepEqual(addresses({ podIP: '10.0.0.1' }), ['10.0.0.1', [{ ip: '10.0.0.1' }]])
  assert.deepEqual(addresses({ podIP: '10.0.0.1', podIPs: [{ ip: '::1' }] }), ['10.0.0.1', [{ ip: '10.0.0.1' }]])
})

test('the seccomp annotations and fields of a pod always have the same values', () => {
  const podKey = 'seccomp.security.alpha.orch.io/pod'
  const mainKey = 'container.seccomp.security.alpha.orch.io/main'
  const local = { seccompProfile: { type: 'Localhost', localhostProfile: 'a/b' } }
  const byField = createBy(pod, asPod({ containers: [{ ...main, securityContext: local }] }))
  assert.deepEqual(byField.object.metadata.annotations, { [mainKey]: 'localhost/a/b' })
  const byNote = createBy(pod, asPod({ containers: [main] }, { annotations: { [podKey]: 'docker/default' } }))
  assert.deepEqual(specOf(byNote.object).securityContext, { seccompProfile: { type: 'RuntimeDefault' } })
  const both = asPod({ containers: [main], securityContext: local }, { annotations: { [podKey]: 'unconfined' } })
  assert.deepEqual(createBy(pod, both).faults, ['Forbidden spec.securityContext.seccompProfile.type'])
  const faultsOf = (profile: string) =>
    createBy(pod, asPod({ containers: [main], securityContext: local }, { annotations: { [podKey]: profile } })).faults
  assert.deepEqual(faultsOf('localhost/a/b'), [])
  assert.deepEqual(faultsOf('localhost/c'), ['Forbidden spec.securityContext.seccompProfile.localhostProfile'])
  assert.deepEqual(faultsOf('anything'), [
    'Forbidden spec.securityContext.seccompProfile.type',
    `Invalid metadata.annotations.${podKey}`,
  ])
  // The server accepts this contradiction in an update.
  assert.deepEqual(
    updateBy(pod, createBy(pod, asPod({ containers: [main], securityContext: local })).object, both).faults,
    [],
  )
})

test('the deletion cost annotation of a pod must be a 32-bit integer', () => {
  const key = 'controller.orch.io/pod-deletion-cost'
  const sent = (cost: string) => asPod({ containers: [main] }, { annotations: { [key]: cost } })
  const fault = `Invalid metadata.annotations[${key}]`
  for (const cost of ['0', '-0', '-12', '2147483647', '-2147483648'])
    assert.deepEqual(createBy(pod, sent(cost)).faults, [], cost)
  for (const cost of ['', '+1', '01', '1.5', 'x', '2147483648', '-2147483649'])
    assert.deepEqual(createBy(pod, sent(cost)).faults, [fault], cost)
  const { object } = createBy(pod, sent('1'))
  assert.deepEqual(updateBy(pod, object, sent('x')).faults, [fault])
  const odd = createBy(pod, sent('y')).object
  assert.deepEqual(updateBy(pod, odd, sent('x')).faults, [])
  const inTemplate = template({ metadata: { annotations: { [key]: 'x' } }, spec: { containers: [main] } })
  assert.deepEqual(createBy(podTemplate, inTemplate).faults, [`Invalid template.annotations[${key}]`])
})

test('the mirror and AppArmor annotations of a pod are immutable, and invalid values are rejected', () => {
  const armor = 'container.apparmor.security.beta.orch.io/'
  const faultsOf = (annotations: JsonObject, spec: JsonObject = {}) =>
    createBy(pod, asPod({ containers: [main], ...spec }, { annotations })).faults
  assert.deepEqual(faultsOf({ 'orch.io/config.mirror': 'x' }), ['Invalid metadata.annotations[orch.io/config.mirror]'])
  assert.deepEqual(faultsOf({ 'orch.io/config.mirror': 'x' }, { nodeName: 'n' }), [])
  assert.deepEqual(faultsOf({ [`${armor}main`]: 'localhost/p' }), [])
  assert.deepEqual(faultsOf({ [`${armor}other`]: 'runtime/default' }), [`Invalid metadata.annotations[${armor}other]`])
  const { object } = createBy(pod, asPod({ containers: [main] }))
  const next = updateBy(pod, object, asPod({ containers: [main] }, { annotations: { [`${armor}main`]: 'unconfined' } }))
  assert.deepEqual(next.faults, [`Forbidden metadata.annotations[${armor}main]`])
})

test('obsolete init container annotations are dropped from pods and pod templates', () => {
  const older = ['alpha', 'beta'].flatMap((stage) =>
    ['init-containers', 'init-container-statuses'].map((name) => [`pod.${stage}.orch.io/${name}`, 'x']),
  )
  const annotations = Object.fromEntries(older)
  const metadata = { annotations: { ...annotations, a: 'b' } }
  const { object } = createBy(pod, asPod({ containers: [main] }, metadata))
  assert.deepEqual(object.metadata.annotations, { a: 'b' })
  assert.equal(createBy(pod, asPod({ containers: [main] }, { annotations })).object.metadata.annotations, undefined)
  for (const [sent, kept] of [
    [metadata, { annotations: { a: 'b' } }],
    [{ annotations }, {}],
  ]) {
    const made = createBy(podTemplate, template({ metadata: sent!, spec: { containers: [main] } })).object
    assert.deepEqual((asJson(made).template as JsonObject).metadata, kept)
  }
})

test('a projected service account token requires a service account name', () => {
  const sources = [{ secret: { name: 's' } }, { serviceAccountToken: { path: 't' } }]
  const spec = { containers: [main], volumes: [{ name: 'v', projected: { sources } }] }
  const fault = 'Forbidden spec.volumes[0].projected.sources[1].serviceAccountToken'
  assert.deepEqual(createBy(pod, asPod(spec)).faults, [fault])
  assert.deepEqual(createBy(pod, asPod({ ...spec, serviceAccountName: 'a' })).faults, [])
  assert.deepEqual(createBy(podTemplate, template({ spec })).faults, [])
  const { object } = createBy(pod, asPod(spec))
  const updated = (subresource: string) => updateBy(pod, object, asPod(spec), { subresource }).faults
  assert.deepEqual([updated(''), updated('status'), updated('binding')], [[fault], [], []])
})

test('a pod status update cannot set the deletion timestamp', () => {
  const { object } = createBy(pod, asPod({ containers: [main] }))
  const sent = asPod({ containers: [main] }, { deletionTimestamp: '2030-01-01T00:00:00Z' })
  const { faults, object: next } = updateBy(pod, object, sent, { subresource: 'status' })
  assert.deepEqual([faults, next.metadata.deletionTimestamp], [[], undefined])
})

test('a pod template is validated like a pod, and ephemeral containers are rejected', () => {
  const metadata = { labels: { 'a b': 'c' } }
  const spec = { containers: [{ name: 'c' }], ephemeralContainers: [{ ...main, name: 'e' }] }
  assert.deepEqual(createBy(podTemplate, template({ metadata, spec })).faults, [
    'Forbidden template.spec.ephemeralContainers',
    'Invalid template.labels',
    'Required template.spec.containers[0].image',
  ])
})

test('the generation of a PodTemplate increases only when its template changes', () => {
  const { object } = createBy(podTemplate, template({ spec: { containers: [main] } }))
  const same = updateBy(podTemplate, object, template({ spec: { containers: [main] } }))
  const changed = updateBy(podTemplate, object, template({ spec: { containers: [{ ...main, tty: true }] } }))
  const generations = [object, same.object, changed.object].map(({ metadata }) => metadata.generation)
  assert.deepEqual(generations, [1, 1, 2])
})

test('deprecated and questionable pod settings cause warnings', () => {
  const warningsOf = (spec: JsonObject) => {
    const { object, faults } = createBy(pod, asPod({ containers: [main], ...spec }))
    assert.deepEqual(faults, [])
    return pod.rules.warnings!(object, undefined, ruleContext).map((text) => text.slice(0, text.indexOf(':')))
  }
  assert.deepEqual(warningsOf({}), [])
  assert.deepEqual(warningsOf({ nodeSelector: { 'beta.orch.io/os': 'linux' } }), ['spec.nodeSelector[beta.orch.io/os]'])
  assert.deepEqual(warningsOf({ imagePullSecrets: [{ name: 'a' }, {}, { name: 'a' }] }), [
    'spec.imagePullSecrets[1]',
    'spec.imagePullSecrets[2].name',
  ])
  const env = [{ name: 'A' }, { name: 'A' }]
  const resources = { requests: { memory: '1500m', cpu: '1500m' } }
  assert.deepEqual(warningsOf({ containers: [{ ...main, env, resources }] }), [
    'spec.containers[0].resources.requests[memory]',
    'spec.containers[0].env[1].name',
  ])
  // A duplicate volume is an error in a pod, but causes only a warning in a template that is not validated.
  const twice = createBy(pod, asPod({ containers: [main], volumes: [{ name: 'v' }, { name: 'v' }] })).object
  assert.deepEqual(pod.rules.warnings!(twice, undefined, ruleContext), ['spec.volumes[1].name: duplicate name "v"'])
})

test('a field selector for pods can use the old field name spec.host', () => {
  const selectable = pod.views.selectable!(createBy(pod, asPod({ containers: [main], nodeName: 'n' })).object)
  assert.deepEqual([selectable['spec.nodeName'], selectable['spec.host'], selectable['status.podIPs']], ['n', 'n', ''])
})

const now = Date.parse('2030-01-01T00:10:00Z')
const ended = (terminated: JsonObject) => ({ state: { terminated: { exitCode: 0, ...terminated } } })

/** Pod statuses with the expected cells: ready, status, restarts. */
const shown: readonly (readonly [status: JsonObject, ...cells: string[]])[] = [
  [{ phase: 'Pending' }, '0/2', 'Pending', '0'],
  [{ phase: 'Failed', reason: 'Evicted' }, '0/2', 'Evicted', '0'],
  [
    {
      initContainerStatuses: [{ ...ended({}), restartCount: 2 }, { state: { waiting: { reason: 'PodInitializing' } } }],
    },
    '0/2',
    'Init:1/1',
    '2',
  ],
  [{ initContainerStatuses: [ended({ exitCode: 3, signal: 9 })] }, '0/2', 'Init:Signal:9', '0'],
  [{ initContainerStatuses: [{ state: { waiting: { reason: 'ErrImagePull' } } }] }, '0/2', 'Init:ErrImagePull', '0'],
  [
    {
      phase: 'Running',
      containerStatuses: [
        { ready: true, state: { running: {} } },
        {
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          restartCount: 4,
          lastState: { terminated: { finishedAt: '2030-01-01T00:07:00Z' } },
        },
      ],
    },
    '1/2',
    'CrashLoopBackOff',
    '4 (3m ago)',
  ],
  [
    { phase: 'Running', containerStatuses: [ended({ exitCode: 2 }), ended({ reason: 'Error' })] },
    '0/2',
    'ExitCode:2',
    '0',
  ],
  [
    {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [ended({ reason: 'Completed' }), { ready: true, state: { running: {} } }],
    },
    '1/2',
    'Running',
    '0',
  ],
  [
    { phase: 'Running', containerStatuses: [ended({ reason: 'Completed' }), { ready: true, state: { running: {} } }] },
    '1/2',
    'NotReady',
    '0',
  ],
]

test('the pod table summarizes the state of each pod', () => {
  const spec = {
    containers: [main, main],
    initContainers: [main],
    readinessGates: [{ conditionType: 'a' }, { conditionType: 'Ready' }],
  }
  for (const [status, ...cells] of shown) {
    const row = rowOf({ ...asPod(spec), status })
    assert.deepEqual([row.Ready, row.Status, row.Restarts], cells, JSON.stringify(status))
  }
  const going = asPod({ ...spec, nodeName: 'n' }, { deletionTimestamp: '2030-01-01T00:00:00Z' })
  assert.equal(rowOf({ ...going, status: { phase: 'Running' } }).Status, 'Terminating')
  assert.equal(rowOf({ ...going, status: { reason: 'NodeLost' } }).Status, 'Unknown')
  const wide = rowOf({ ...going, status: { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] } })
  assert.deepEqual(
    [wide.IP, wide.Node, wide['Nominated Node'], wide['Readiness Gates']],
    ['10.0.0.1', 'n', '<none>', '1/2'],
  )
})

function rowOf(object: JsonObject): { [column: string]: Json } {
  const cells = pod.views.columns!.map(({ name, cell }) => [
    name,
    cell(object as unknown as ApiObject, now, ruleContext.vendor),
  ])
  return Object.fromEntries(cells) as { [column: string]: Json }
}

function asPod(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec }
}

function template(value: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 't' }, template: value }
}

function made(spec: JsonObject): { spec: JsonObject; status: JsonObject } {
  const { object, faults } = createBy(pod, asPod(spec))
  assert.deepEqual(faults, [])
  return asJson(object) as { spec: JsonObject; status: JsonObject }
}

function specOf(object: ApiObject): JsonObject {
  return asJson(object).spec as JsonObject
}

/** Returns the first element of a list. */
function partOf(spec: JsonObject, list: string): JsonObject {
  return (spec[list] as JsonObject[])[0]!
}

function below(path: string): (fault: string) => string {
  return (fault) => fault.replace(/^(\w+) ?/, (_, word: string) => `${word} ${path}${fault.includes(' ') ? '.' : ''}`)
}
