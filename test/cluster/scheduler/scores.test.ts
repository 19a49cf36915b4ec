/** Tests the scores of feasible nodes, plugin by plugin, with the same numbers as in kube-scheduler 1.23. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodesToFind } from '../../../src/cluster/scheduler/find-node.ts'
import { type ClusterParts, type PodParts, placeOf, pod, scores } from '../../support/scheduling.ts'

const web = { app: 'web' }
const zones = { a: { labels: { zone: '1' } }, b: { labels: { zone: '1' } }, c: { labels: { zone: '2' } } }
const mild = (...keys: string[]) => ({ spec: { taints: keys.map((key) => ({ key, effect: 'PreferNoSchedule' })) } })
const like = (app: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey: 'zone' })
const preferred = (weight: number, podAffinityTerm: object) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }],
})
const ofNode = (weight: number, key: string) => ({
  weight,
  preference: { matchExpressions: [{ key, operator: 'Exists' }] },
})
const mb = 1024 * 1024

interface Row {
  readonly plugin: string
  readonly name: string
  readonly pod: PodParts
  readonly cluster: ClusterParts
  readonly expected: readonly number[] | undefined
}

const rows: Row[] = [
  {
    plugin: 'NodeResourcesFit',
    name: 'fewer requests score higher, averaged over CPU and memory',
    pod: { cpu: '3000m', memory: '5000' },
    cluster: { nodes: { a: { cpu: '4000m', memory: '10000' }, b: { cpu: '6000m', memory: '10000' } } },
    // The expected score is ((4000-3000)*100/4000 + (10000-5000)*100/10000) / 2, and the same formula with 6000.
    expected: [37, 50],
  },
  {
    plugin: 'NodeResourcesFit',
    name: 'a pod without requests counts as a small pod',
    pod: {},
    cluster: {
      nodes: { a: { cpu: '1', memory: '2000Mi' }, b: { cpu: '1', memory: '2000Mi' } },
      pods: [pod('other', { on: 'a' })],
    },
    expected: [80, 90],
  },
  {
    plugin: 'NodeResourcesBalancedAllocation',
    name: 'similar CPU and memory utilization scores higher',
    pod: { cpu: '3000m', memory: '5000' },
    cluster: { nodes: { a: { cpu: '4000m', memory: '10000' }, b: { cpu: '6000m', memory: '10000' } } },
    // 75% and 50% used: 1 - 0.25/2. 50% and 50% used: 1.
    expected: [87, 100],
  },
  {
    plugin: 'TaintToleration',
    name: 'fewer untolerated PreferNoSchedule taints score higher',
    pod: { tolerations: [{ key: 'ok', operator: 'Exists' }] },
    cluster: { nodes: { a: mild('x', 'y'), b: mild('x', 'ok'), c: {} } },
    expected: [0, 50, 100],
  },
  {
    plugin: 'TaintToleration',
    name: 'nodes without taints get no score',
    pod: {},
    cluster: { nodes: { a: {} } },
    expected: undefined,
  },
  {
    plugin: 'NodeAffinity',
    name: 'the weights of matching terms are summed',
    pod: {
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [ofNode(4, 'fast'), ofNode(1, 'new')] },
      },
    },
    cluster: { nodes: { a: { labels: { fast: '', new: '' } }, b: { labels: { fast: '' } }, c: {} } },
    expected: [100, 80, 0],
  },
  {
    plugin: 'ImageLocality',
    name: 'images that a node already has score by size and by how many nodes have them',
    pod: { containers: [{ name: 'c', image: 'example.com/big' }] },
    cluster: {
      nodes: { a: { images: [{ names: ['example.com/big:latest'], sizeBytes: 1000 * mb }] }, b: {} },
    },
    // Half of the nodes have the image, so the score is (500 - 23) / (1000 - 23).
    expected: [48, 0],
  },
  {
    plugin: 'InterPodAffinity',
    name: 'preferred affinity scores higher',
    pod: { affinity: { podAffinity: preferred(5, like('web')) } },
    cluster: { nodes: zones, pods: [pod('w', { on: 'a', labels: web })] },
    expected: [100, 100, 0],
  },
  {
    plugin: 'InterPodAffinity',
    name: 'preferred anti-affinity scores lower, required affinity of existing pods higher',
    pod: { labels: web, affinity: { podAntiAffinity: preferred(5, like('db')) } },
    cluster: {
      nodes: { ...zones, d: { labels: { zone: '3' } } },
      pods: [
        pod('db', { on: 'a', labels: { app: 'db' } }),
        pod('fan', {
          on: 'c',
          affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [like('web')] } },
        }),
      ],
    },
    expected: [0, 0, 100, 83],
  },
  {
    plugin: 'PodTopologySpread',
    name: 'fewer matching pods in the same zone score higher',
    pod: {
      labels: web,
      topologySpreadConstraints: [
        { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: web } },
      ],
    },
    cluster: {
      nodes: { ...zones, d: {} },
      pods: [
        pod('1', { on: 'a', labels: web }),
        pod('2', { on: 'b', labels: web }),
        pod('3', { on: 'c', labels: web }),
      ],
    },
    // The scores are ln(4) times 2 pods and ln(4) times 1 pod, rounded to 3 and 1. A node without the label has a score
    // of 0.
    expected: [33, 33, 100, 0],
  },
  {
    plugin: 'PodTopologySpread',
    name: 'pods of a workload are spread over hosts by default',
    pod: { labels: web },
    cluster: {
      nodes: { a: {}, b: {} },
      pods: [pod('1', { on: 'a', labels: web })],
      workloadSelector: { matchLabels: web },
    },
    // 1 * ln(4) + 2 = 3, and 2: (3 + 2 - 3) / 3 and (3 + 2 - 2) / 3.
    expected: [66, 100],
  },
  {
    plugin: 'PodTopologySpread',
    name: 'a pod without a workload is not spread',
    pod: { labels: web },
    cluster: { nodes: { a: {}, b: {} } },
    expected: undefined,
  },
]

for (const { plugin, name, pod: parts, cluster, expected } of rows)
  test(`${plugin}: ${name}`, () => {
    assert.deepEqual(scores(plugin, cluster, pod('p', parts)), expected)
  })

test('the scheduler chooses the node with the highest sum of weighted scores', () => {
  const nodes = { a: { cpu: '2' }, b: { cpu: '8', memory: '16Gi' } }
  assert.equal(placeOf({ nodes }, pod('p', { cpu: '1', memory: '1Gi' })), 'b')
})

for (const [all, percentage, expected] of [
  [10, 0, 10],
  [99, 50, 99],
  [100, 0, 100],
  [1000, 0, 420],
  [1000, 40, 400],
  [1000, 5, 100],
  [5000, 0, 500],
  [6000, 0, 300],
  [6000, 100, 6000],
] as const)
  test(`with ${all} nodes and ${percentage}%, the scheduler looks for ${expected} feasible nodes`, () => {
    assert.equal(nodesToFind(all, percentage), expected)
  })
