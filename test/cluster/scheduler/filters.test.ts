/** Which nodes are possible for a Pod and why the others are not, rule by rule, as kube-scheduler 1.23 says it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClusterParts, type NodeParts, type PodParts, placeOf, pod, reasons } from '../../support/scheduling.ts'

const noAffinity = "node(s) didn't match Pod's node affinity/selector"
const uneven = "node(s) didn't match pod topology spread constraints"
const apart = "node(s) didn't match pod affinity rules"
const tooNear = "node(s) didn't match pod anti-affinity rules"
const repelled = "node(s) didn't satisfy existing pods anti-affinity rules"

interface Row {
  readonly name: string
  readonly pod: PodParts
  readonly cluster: ClusterParts
  /** By node: why it is out, or '' where it is possible. */
  readonly wanted: { readonly [node: string]: string }
}

const one = (parts: NodeParts): ClusterParts => ({ nodes: { n: parts } })
const required = (term: object) => ({ requiredDuringSchedulingIgnoredDuringExecution: term })
const expression = (key: string, operator: string, ...values: string[]) => ({ key, operator, values })
const nodeAffinity = (...terms: object[]) => ({ nodeAffinity: required({ nodeSelectorTerms: terms }) })
const like = (app: string, topologyKey = 'zone', more: object = {}) => ({
  labelSelector: { matchLabels: { app } },
  topologyKey,
  ...more,
})
const near = (...terms: object[]) => ({ podAffinity: required(terms) })
const away = (...terms: object[]) => ({ podAntiAffinity: required(terms) })
const web = { app: 'web' }
const zones = { a: { labels: { zone: '1' } }, b: { labels: { zone: '1' } }, c: { labels: { zone: '2' } } }
const spread = (topologyKey: string, maxSkew = 1) => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: web },
})
const cordon = { spec: { unschedulable: true } }
const tainted = (effect: string) => ({ spec: { taints: [{ key: 'k', value: 'v', effect }] } })
const hostPort = (port: object) => ({
  containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, ...port }] }],
})
const requesting = (requests: object) => ({ name: 'c', image: 'i', resources: { requests } })

const nodeRows: Row[] = [
  { name: 'a cordoned node', pod: {}, cluster: one(cordon), wanted: { n: 'node(s) were unschedulable' } },
  {
    name: 'a cordoned node is tolerated',
    pod: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] },
    cluster: one(cordon),
    wanted: { n: '' },
  },
  {
    name: 'a taint',
    pod: {},
    cluster: one(tainted('NoSchedule')),
    wanted: { n: "node(s) had taint {k: v}, that the pod didn't tolerate" },
  },
  {
    name: 'a taint that also drives out',
    pod: { tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }] },
    cluster: one(tainted('NoExecute')),
    wanted: { n: "node(s) had taint {k: v}, that the pod didn't tolerate" },
  },
  { name: 'a taint that only prefers', pod: {}, cluster: one(tainted('PreferNoSchedule')), wanted: { n: '' } },
  {
    name: 'a taint that is tolerated by its value',
    pod: { tolerations: [{ key: 'k', value: 'v' }] },
    cluster: one(tainted('NoSchedule')),
    wanted: { n: '' },
  },
  {
    name: 'all taints are tolerated',
    pod: { tolerations: [{ operator: 'Exists' }] },
    cluster: one(tainted('NoSchedule')),
    wanted: { n: '' },
  },
  {
    name: 'nodeSelector',
    pod: { nodeSelector: { zone: '2' } },
    cluster: { nodes: zones },
    wanted: { a: noAffinity, b: noAffinity, c: '' },
  },
  {
    name: 'terms are alternatives, requirements of a term are not, and an empty term matches nothing',
    pod: {
      affinity: nodeAffinity(
        {},
        { matchExpressions: [expression('zone', 'In', '1'), expression('disk', 'DoesNotExist')] },
        { matchFields: [expression('metadata.name', 'In', 'd')] },
      ),
    },
    cluster: { nodes: { a: { labels: { zone: '1', disk: 'x' } }, b: { labels: { zone: '1' } }, c: {}, d: {} } },
    wanted: { a: noAffinity, b: '', c: noAffinity, d: '' },
  },
  {
    name: 'numbers are compared, and what is none never fits',
    pod: { affinity: nodeAffinity({ matchExpressions: [expression('cores', 'Gt', '7')] }) },
    cluster: { nodes: { a: { labels: { cores: '10' } }, b: { labels: { cores: '7' } }, c: { labels: { cores: '' } } } },
    wanted: { a: '', b: noAffinity, c: noAffinity },
  },
  {
    name: 'a port of the node, of one address and of all',
    pod: hostPort({ hostPort: 80, hostIP: '10.0.0.1' }),
    cluster: {
      nodes: { a: {}, b: {}, c: {} },
      pods: [
        pod('all', { on: 'a', ...hostPort({ hostPort: 80 }) }),
        pod('other', { on: 'b', ...hostPort({ hostPort: 80, hostIP: '10.0.0.2' }) }),
        pod('udp', { on: 'c', ...hostPort({ hostPort: 80, protocol: 'UDP' }) }),
      ],
    },
    wanted: { a: "node(s) didn't have free ports for the requested pod ports", b: '', c: '' },
  },
]

const resourceRows: Row[] = [
  {
    name: 'every resource of which there is too little',
    pod: { cpu: '2', memory: '2Gi' },
    cluster: {
      nodes: {
        a: { cpu: '3', memory: '3Gi' },
        b: { cpu: '1', memory: '1Gi', pods: '0' },
        c: { cpu: '2', memory: '2Gi' },
      },
      pods: [pod('other', { on: 'a', cpu: '1500m', memory: '1Gi' })],
    },
    wanted: { a: 'Insufficient cpu', b: 'Too many pods, Insufficient cpu, Insufficient memory', c: '' },
  },
  {
    name: 'an extended resource and ephemeral storage',
    pod: { containers: [requesting({ 'example.com/gpu': '2', 'ephemeral-storage': '1Gi' })] },
    cluster: {
      nodes: {
        a: {},
        b: { resources: { 'example.com/gpu': '2', 'ephemeral-storage': '2Gi' } },
        c: { resources: { 'example.com/gpu': '4', 'ephemeral-storage': '2Gi' } },
      },
      pods: [pod('other', { on: 'b', containers: [requesting({ 'example.com/gpu': '1' })] })],
    },
    wanted: {
      a: 'Insufficient ephemeral-storage, Insufficient example.com/gpu',
      b: 'Insufficient example.com/gpu',
      c: '',
    },
  },
  {
    name: 'the largest init container or the sum of containers, and the overhead',
    pod: {
      containers: [requesting({ cpu: '500m' }), requesting({ cpu: '500m' })],
      initContainers: [requesting({ cpu: '2' }), requesting({ cpu: '1' })],
      overhead: { cpu: '100m' },
    },
    cluster: { nodes: { a: { cpu: '2' }, b: { cpu: '2100m' } } },
    wanted: { a: 'Insufficient cpu', b: '' },
  },
  {
    name: 'a pod that requests nothing needs a place only',
    pod: {},
    cluster: { nodes: { a: { cpu: '0' }, b: { pods: '1' } }, pods: [pod('other', { on: 'b' })] },
    wanted: { a: '', b: 'Too many pods' },
  },
]

const podRows: Row[] = [
  {
    name: 'affinity to pods of the same zone',
    pod: { affinity: near(like('web')) },
    cluster: { nodes: { ...zones, d: {} }, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: '', b: '', c: apart, d: apart },
  },
  {
    name: 'affinity to pods of another namespace, by name and by labels',
    pod: {
      affinity: near(like('web', 'zone', { namespaces: ['x'], namespaceSelector: { matchLabels: { team: 'y' } } })),
    },
    cluster: {
      nodes: { ...zones, d: { labels: { zone: '3' } } },
      namespaces: { yy: { team: 'y' }, default: {} },
      pods: [
        pod('w', { on: 'a', labels: web, namespace: 'x' }),
        pod('w', { on: 'c', labels: web, namespace: 'yy' }),
        pod('w', { on: 'd', labels: web }),
      ],
    },
    wanted: { a: '', b: '', c: '', d: apart },
  },
  {
    name: 'the first of pods that want to be together may go anywhere with the label',
    pod: { labels: web, affinity: near(like('web')) },
    cluster: { nodes: { ...zones, d: {} } },
    wanted: { a: '', b: '', c: '', d: apart },
  },
  {
    name: 'all terms must be met by the same pods',
    pod: { affinity: near(like('web'), like('web', 'kubernetes.io/hostname')) },
    cluster: { nodes: zones, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: '', b: apart, c: apart },
  },
  {
    name: 'anti-affinity to pods of the same zone',
    pod: { affinity: away(like('web')) },
    cluster: { nodes: { ...zones, d: {} }, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: tooNear, b: tooNear, c: '', d: '' },
  },
  {
    name: 'anti-affinity of pods that are there already',
    pod: { labels: web },
    cluster: { nodes: zones, pods: [pod('hermit', { on: 'c', affinity: away(like('web')) })] },
    wanted: { a: '', b: '', c: repelled },
  },
  {
    name: 'a term without a selector means no pods',
    pod: { affinity: away({ topologyKey: 'zone' }) },
    cluster: { nodes: zones, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: '', b: '', c: '' },
  },
  {
    name: 'spread: places differ by no more than maxSkew',
    pod: { labels: web, topologySpreadConstraints: [spread('zone')] },
    cluster: { nodes: { ...zones, d: {} }, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: uneven, b: uneven, c: '', d: `${uneven} (missing required label)` },
  },
  {
    name: 'spread counts neither pods that go, nor other namespaces, nor nodes that are not possible',
    pod: { labels: web, topologySpreadConstraints: [spread('zone')], nodeSelector: { zone: '1' } },
    cluster: {
      nodes: zones,
      pods: [
        pod('w1', { on: 'a', labels: web, isTerminating: true }),
        pod('w2', { on: 'a', labels: web, namespace: 'x' }),
        pod('w3', { on: 'a', labels: web }),
      ],
    },
    wanted: { a: '', b: '', c: noAffinity },
  },
  {
    name: 'spread over two topologies',
    pod: { labels: web, topologySpreadConstraints: [spread('zone'), spread('kubernetes.io/hostname')] },
    cluster: {
      nodes: zones,
      pods: [pod('w1', { on: 'a', labels: web }), pod('w2', { on: 'c', labels: web })],
    },
    wanted: { a: uneven, b: '', c: uneven },
  },
]

const claim = (name: string, spec: object = {}, annotations: object = {}) => ({
  metadata: { name, namespace: 'default', annotations },
  spec: { accessModes: [], ...spec },
})
const bound = (volumeName: string) => claim('data', { volumeName }, { 'pv.kubernetes.io/bind-completed': 'yes' })
const usesData = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] }
const inZone = (zone: string) =>
  required({ nodeSelectorTerms: [{ matchExpressions: [expression('zone', 'In', zone)] }] })
const atZone = (zone: string) => ({
  nodeAffinity: { required: inZone(zone).requiredDuringSchedulingIgnoredDuringExecution },
})
const late = { metadata: { name: 'late' }, volumeBindingMode: 'WaitForFirstConsumer' }
const noVolume = "node(s) didn't find available persistent volumes to bind"
const all = (reason: string) => ({ a: reason, b: reason, c: reason })

const volumeRows: Row[] = [
  {
    name: 'a claim that does not exist',
    pod: usesData,
    cluster: { nodes: zones },
    wanted: all('persistentvolumeclaim "data" not found'),
  },
  {
    name: 'the claim of an ephemeral volume that is not there yet',
    pod: { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: {} } }] },
    cluster: { nodes: zones },
    wanted: all('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'),
  },
  {
    name: 'a claim that is not bound and waits for no node',
    pod: usesData,
    cluster: { nodes: zones, storage: { claims: [claim('data')] } },
    wanted: all('pod has unbound immediate PersistentVolumeClaims'),
  },
  {
    name: 'a volume that is in one zone',
    pod: usesData,
    cluster: {
      nodes: zones,
      storage: { claims: [bound('disk')], volumes: [{ metadata: { name: 'disk' }, spec: atZone('2') }] },
    },
    wanted: {
      a: 'node(s) had volume node affinity conflict',
      b: 'node(s) had volume node affinity conflict',
      c: '',
    },
  },
  {
    name: 'a volume that does not exist',
    pod: usesData,
    cluster: { nodes: zones, storage: { claims: [bound('gone')] } },
    wanted: all('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'),
  },
  {
    name: 'a claim that waits finds a free volume in one zone only',
    pod: usesData,
    cluster: {
      nodes: zones,
      storage: {
        claims: [claim('data', { storageClassName: 'late' })],
        classes: [{ ...late, provisioner: 'kubernetes.io/no-provisioner' }],
        volumes: [
          {
            metadata: { name: 'disk' },
            spec: { storageClassName: 'late', ...atZone('2') },
            status: { phase: 'Available' },
          },
        ],
      },
    },
    wanted: { a: noVolume, b: noVolume, c: '' },
  },
  {
    name: 'a claim whose volume is made where the class allows it',
    pod: usesData,
    cluster: {
      nodes: zones,
      storage: {
        claims: [claim('data', { storageClassName: 'late' })],
        classes: [
          {
            ...late,
            provisioner: 'example.com/disks',
            allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['1'] }] }],
          },
        ],
      },
    },
    wanted: { a: '', b: '', c: noVolume },
  },
  {
    name: 'a claim that another pod has given to a node',
    pod: usesData,
    cluster: {
      nodes: zones,
      storage: {
        claims: [claim('data', { storageClassName: 'late' }, { 'volume.kubernetes.io/selected-node': 'b' })],
        classes: [{ ...late, provisioner: 'example.com/disks' }],
      },
    },
    wanted: { a: noVolume, b: '', c: noVolume },
  },
  {
    name: 'the zone of a volume by its label',
    pod: usesData,
    cluster: {
      nodes: {
        a: { labels: { 'topology.kubernetes.io/zone': 'x' } },
        b: { labels: { 'topology.kubernetes.io/zone': 'y' } },
        c: {},
      },
      storage: {
        claims: [bound('disk')],
        volumes: [{ metadata: { name: 'disk', labels: { 'topology.kubernetes.io/zone': 'w__x' } } }],
      },
    },
    wanted: { a: '', b: 'node(s) had no available volume zone', c: '' },
  },
  {
    name: 'as many volumes of a driver as the node takes',
    pod: usesData,
    cluster: {
      nodes: { a: {}, b: {} },
      pods: [pod('other', { on: 'a', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'held' } }] })],
      storage: {
        claims: [bound('disk'), claim('held', { volumeName: 'used' })],
        volumes: ['disk', 'used'].map((name) => ({
          metadata: { name },
          spec: { csi: { driver: 'd', volumeHandle: name } },
        })),
        csiNodes: ['a', 'b'].map((name) => ({
          metadata: { name },
          spec: { drivers: [{ name: 'd', allocatable: { count: 1 } }] },
        })),
      },
    },
    wanted: { a: 'node(s) exceed max volume count', b: '' },
  },
  {
    name: 'a disk that another pod writes to',
    pod: { volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd', readOnly: true } }] },
    cluster: {
      nodes: { a: {}, b: {} },
      pods: [
        pod('writer', { on: 'a', volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }] }),
        pod('reader', { on: 'b', volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd', readOnly: true } }] }),
      ],
    },
    wanted: { a: 'node(s) had no available disk', b: '' },
  },
]

for (const row of [...nodeRows, ...resourceRows, ...podRows, ...volumeRows])
  test(row.name, () => {
    assert.deepEqual(reasons(row.cluster, pod('p', row.pod)), row.wanted)
  })

test('the message counts nodes by reason, in the order of its words', () => {
  const nodes = { a: cordon, b: { cpu: '1' }, c: { cpu: '1' }, d: { cpu: '1', memory: '1Mi' } }
  assert.equal(
    placeOf({ nodes }, pod('p', { cpu: '2', memory: '1Gi' })),
    '0/4 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 3 Insufficient cpu.',
  )
  assert.equal(placeOf({ nodes: {} }, pod('p')), 'no nodes available to schedule pods')
})

test('a label may have any key', () => {
  const labels = JSON.parse('{"__proto__":"x"}') as { [key: string]: string }
  const found = reasons({ nodes: { a: { labels }, b: {} } }, pod('p', { nodeSelector: labels }))
  assert.deepEqual(found, { a: '', b: noAffinity })
})
