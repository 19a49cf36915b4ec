/**
 * Tests each scheduling rule: which nodes are feasible for a Pod, and why the others are rejected, in the wording of
 * kube-scheduler 1.23.
 */
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
  /** The reason why the filters reject each node, or '' if the node is feasible. */
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
  { name: 'a cordoned node is excluded', pod: {}, cluster: one(cordon), wanted: { n: 'node(s) were unschedulable' } },
  {
    name: 'a toleration allows a cordoned node',
    pod: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] },
    cluster: one(cordon),
    wanted: { n: '' },
  },
  {
    name: 'a NoSchedule taint excludes the node',
    pod: {},
    cluster: one(tainted('NoSchedule')),
    wanted: { n: "node(s) had taint {k: v}, that the pod didn't tolerate" },
  },
  {
    name: 'a NoExecute taint requires a toleration with that effect',
    pod: { tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }] },
    cluster: one(tainted('NoExecute')),
    wanted: { n: "node(s) had taint {k: v}, that the pod didn't tolerate" },
  },
  {
    name: 'a PreferNoSchedule taint excludes nothing',
    pod: {},
    cluster: one(tainted('PreferNoSchedule')),
    wanted: { n: '' },
  },
  {
    name: 'a toleration with a matching value allows the taint',
    pod: { tolerations: [{ key: 'k', value: 'v' }] },
    cluster: one(tainted('NoSchedule')),
    wanted: { n: '' },
  },
  {
    name: 'a toleration without a key allows all taints',
    pod: { tolerations: [{ operator: 'Exists' }] },
    cluster: one(tainted('NoSchedule')),
    wanted: { n: '' },
  },
  {
    name: 'nodeSelector excludes nodes with other labels',
    pod: { nodeSelector: { zone: '2' } },
    cluster: { nodes: zones },
    wanted: { a: noAffinity, b: noAffinity, c: '' },
  },
  {
    name: 'terms are ORed, requirements of a term are ANDed, and an empty term matches nothing',
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
    name: 'Gt compares numbers and never matches other values',
    pod: { affinity: nodeAffinity({ matchExpressions: [expression('cores', 'Gt', '7')] }) },
    cluster: { nodes: { a: { labels: { cores: '10' } }, b: { labels: { cores: '7' } }, c: { labels: { cores: '' } } } },
    wanted: { a: '', b: noAffinity, c: noAffinity },
  },
  {
    name: 'host ports conflict by address, with the wildcard address and by protocol',
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
    name: 'every insufficient resource is reported',
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
    name: 'extended resources and ephemeral storage must fit',
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
    name: 'requests are the maximum of init containers and the sum of containers, plus overhead',
    pod: {
      containers: [requesting({ cpu: '500m' }), requesting({ cpu: '500m' })],
      initContainers: [requesting({ cpu: '2' }), requesting({ cpu: '1' })],
      overhead: { cpu: '100m' },
    },
    cluster: { nodes: { a: { cpu: '2' }, b: { cpu: '2100m' } } },
    wanted: { a: 'Insufficient cpu', b: '' },
  },
  {
    name: 'a pod without requests needs only a free pod slot',
    pod: {},
    cluster: { nodes: { a: { cpu: '0' }, b: { pods: '1' } }, pods: [pod('other', { on: 'b' })] },
    wanted: { a: '', b: 'Too many pods' },
  },
]

const podRows: Row[] = [
  {
    name: 'affinity requires pods in the same zone',
    pod: { affinity: near(like('web')) },
    cluster: { nodes: { ...zones, d: {} }, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: '', b: '', c: apart, d: apart },
  },
  {
    name: 'affinity selects other namespaces by name and by labels',
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
    name: 'the first pod with affinity to itself may run on any node with the label',
    pod: { labels: web, affinity: near(like('web')) },
    cluster: { nodes: { ...zones, d: {} } },
    wanted: { a: '', b: '', c: '', d: apart },
  },
  {
    name: 'the same pods must match all affinity terms',
    pod: { affinity: near(like('web'), like('web', 'kubernetes.io/hostname')) },
    cluster: { nodes: zones, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: '', b: apart, c: apart },
  },
  {
    name: 'anti-affinity excludes zones with matching pods',
    pod: { affinity: away(like('web')) },
    cluster: { nodes: { ...zones, d: {} }, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: tooNear, b: tooNear, c: '', d: '' },
  },
  {
    name: 'anti-affinity of existing pods excludes their zone',
    pod: { labels: web },
    cluster: { nodes: zones, pods: [pod('hermit', { on: 'c', affinity: away(like('web')) })] },
    wanted: { a: '', b: '', c: repelled },
  },
  {
    name: 'a term without a selector matches no pods',
    pod: { affinity: away({ topologyKey: 'zone' }) },
    cluster: { nodes: zones, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: '', b: '', c: '' },
  },
  {
    name: 'topology spread keeps the difference within maxSkew',
    pod: { labels: web, topologySpreadConstraints: [spread('zone')] },
    cluster: { nodes: { ...zones, d: {} }, pods: [pod('w', { on: 'a', labels: web })] },
    wanted: { a: uneven, b: uneven, c: '', d: `${uneven} (missing required label)` },
  },
  {
    name: 'topology spread ignores terminating pods, other namespaces and excluded nodes',
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
    name: 'topology spread counts zero pods elsewhere if there are fewer domains than minDomains',
    pod: { labels: web, topologySpreadConstraints: [{ ...spread('zone'), minDomains: 3 }] },
    cluster: {
      nodes: zones,
      pods: [pod('w1', { on: 'a', labels: web }), pod('w2', { on: 'c', labels: web })],
    },
    wanted: { a: uneven, b: uneven, c: uneven },
  },
  {
    name: 'topology spread counts only pods with the same values of matchLabelKeys',
    pod: {
      labels: { ...web, hash: 'new' },
      topologySpreadConstraints: [{ ...spread('zone'), matchLabelKeys: ['hash', 'absent'] }],
    },
    cluster: {
      nodes: zones,
      pods: [
        pod('w1', { on: 'a', labels: { ...web, hash: 'old' } }),
        pod('w2', { on: 'c', labels: { ...web, hash: 'new' } }),
      ],
    },
    wanted: { a: '', b: '', c: uneven },
  },
  {
    name: 'topology spread counts nodes that the pod cannot use if the affinity policy is Ignore',
    pod: {
      labels: web,
      topologySpreadConstraints: [{ ...spread('zone'), nodeAffinityPolicy: 'Ignore' }],
      nodeSelector: { zone: '1' },
    },
    cluster: { nodes: zones, pods: [pod('w3', { on: 'a', labels: web })] },
    wanted: { a: uneven, b: uneven, c: noAffinity },
  },
  {
    name: 'topology spread ignores tainted nodes only if the taints policy is Honor',
    pod: { labels: web, topologySpreadConstraints: [{ ...spread('zone'), nodeTaintsPolicy: 'Honor' }] },
    cluster: {
      nodes: { ...zones, c: { ...zones.c, ...tainted('NoSchedule') } },
      pods: [pod('w1', { on: 'a', labels: web })],
    },
    wanted: { a: '', b: '', c: "node(s) had taint {k: v}, that the pod didn't tolerate" },
  },
  {
    name: 'topology spread supports two topology keys',
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
    name: 'a missing claim excludes all nodes',
    pod: usesData,
    cluster: { nodes: zones },
    wanted: all('persistentvolumeclaim "data" not found'),
  },
  {
    name: 'a missing claim of an ephemeral volume excludes all nodes',
    pod: { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: {} } }] },
    cluster: { nodes: zones },
    wanted: all('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'),
  },
  {
    name: 'an unbound claim with immediate binding excludes all nodes',
    pod: usesData,
    cluster: { nodes: zones, storage: { claims: [claim('data')] } },
    wanted: all('pod has unbound immediate PersistentVolumeClaims'),
  },
  {
    name: 'a volume in one zone excludes other zones',
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
    name: 'a missing volume excludes all nodes',
    pod: usesData,
    cluster: { nodes: zones, storage: { claims: [bound('gone')] } },
    wanted: all('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'),
  },
  {
    name: 'a claim with delayed binding finds a free volume in one zone only',
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
    name: 'a claim with delayed binding is provisioned within the allowed topologies',
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
    name: 'a claim with a selected node excludes other nodes',
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
    name: 'the zone label of a volume excludes other zones',
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
    name: 'the volume limit of a CSI driver excludes full nodes',
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
    name: 'a disk that another pod writes to excludes its node',
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

test('the message for an unschedulable pod counts nodes by reason in alphabetical order', () => {
  const nodes = { a: cordon, b: { cpu: '1' }, c: { cpu: '1' }, d: { cpu: '1', memory: '1Mi' } }
  assert.equal(
    placeOf({ nodes }, pod('p', { cpu: '2', memory: '1Gi' })),
    '0/4 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 3 Insufficient cpu.',
  )
  assert.equal(placeOf({ nodes: {} }, pod('p')), 'no nodes available to schedule pods')
})

test('node labels may have any key, including names of inherited properties', () => {
  const labels = JSON.parse('{"__proto__":"x"}') as { [key: string]: string }
  const found = reasons({ nodes: { a: { labels }, b: {} } }, pod('p', { nodeSelector: labels }))
  assert.deepEqual(found, { a: '', b: noAffinity })
})
