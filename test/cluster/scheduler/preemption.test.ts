/** Tests that the victims of preemption are the same as in kube-scheduler 1.23. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodDisruptionBudget } from '../../../src/api/kinds/policy/pod-disruption-budget.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'
import { findNode } from '../../../src/cluster/scheduler/find-node.ts'
import type { PodInfo } from '../../../src/cluster/scheduler/pod-info.ts'
import { findPreemption, mayPreempt } from '../../../src/cluster/scheduler/preemption.ts'
import { type ClusterParts, type PodParts, pod, searchIn, sightOf } from '../../support/scheduling.ts'

interface Row {
  readonly name: string
  readonly pod?: PodParts
  readonly cluster: ClusterParts
  readonly budgets?: readonly object[]
  /** The expected node and victims, or undefined if preemption is impossible. */
  readonly wanted: readonly [string, ...string[]] | undefined
}

const small = { cpu: '2' }
const two = { a: small, b: small }
const holder = (name: string, on: string, priority: number, parts: PodParts = {}) =>
  pod(name, { on, priority, cpu: '1', ...parts })
const at = (hour: number) => `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`
const budget = (app: string, disruptionsAllowed: number) => ({
  metadata: { name: app, namespace: 'default' },
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed },
})

const rows: Row[] = [
  {
    name: 'prefers victims with the lowest priority',
    cluster: {
      nodes: two,
      pods: [holder('a1', 'a', 50), holder('a2', 'a', 10), holder('b1', 'b', 20), holder('b2', 'b', 30)],
    },
    wanted: ['a', 'a2'],
  },
  {
    name: 'prefers the fewest victims and spares pods that fit',
    pod: { cpu: '2' },
    cluster: {
      nodes: { a: { cpu: '3' }, b: { cpu: '3' } },
      pods: [
        ...[holder('a1', 'a', 10), holder('a2', 'a', 10), holder('a3', 'a', 10)],
        ...[holder('b1', 'b', 10, { cpu: '2' }), holder('b2', 'b', 10)],
      ],
    },
    wanted: ['b', 'b1'],
  },
  {
    name: 'prefers the most recently started among otherwise equal victims',
    cluster: {
      nodes: two,
      pods: [
        holder('a1', 'a', 10, { cpu: '2', startTime: at(1) }),
        holder('b1', 'b', 10, { cpu: '2', startTime: at(2) }),
      ],
    },
    wanted: ['b', 'b1'],
  },
  {
    name: 'prefers victims without a budget violation',
    cluster: {
      nodes: two,
      pods: [
        holder('a1', 'a', 10, { cpu: '2', labels: { app: 'kept' } }),
        holder('b1', 'b', 50, { cpu: '2', labels: { app: 'free' } }),
      ],
    },
    budgets: [budget('kept', 0), budget('free', 1)],
    wanted: ['b', 'b1'],
  },
  {
    name: 'violates a budget if there is no alternative',
    cluster: { nodes: { a: small }, pods: [holder('a1', 'a', 10, { cpu: '2', labels: { app: 'kept' } })] },
    budgets: [budget('kept', 0)],
    wanted: ['a', 'a1'],
  },
  {
    name: 'never evicts pods of equal priority',
    cluster: { nodes: { a: small }, pods: [holder('a1', 'a', 100, { cpu: '2' })] },
    wanted: undefined,
  },
  {
    name: 'evicts nothing if that would not help',
    pod: { nodeSelector: { disk: 'fast' } },
    cluster: { nodes: two, pods: [holder('a1', 'a', 10, { cpu: '2' }), holder('b1', 'b', 10, { cpu: '2' })] },
    wanted: undefined,
  },
  {
    name: 'evicts pods with conflicting anti-affinity',
    pod: { cpu: '1', labels: { app: 'web' } },
    cluster: {
      nodes: { a: { cpu: '8' } },
      pods: [
        holder('hermit', 'a', 10, {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
              ],
            },
          },
        }),
        holder('other', 'a', 10),
      ],
    },
    wanted: ['a', 'hermit'],
  },
  {
    name: 'evicts pods that violate the spread constraint',
    pod: {
      cpu: '1',
      labels: { app: 'web' },
      topologySpreadConstraints: [
        {
          topologyKey: 'zone',
          maxSkew: 1,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ],
    },
    cluster: {
      nodes: { a: { cpu: '8', labels: { zone: '1' } }, b: { cpu: '0', pods: '0', labels: { zone: '2' } } },
      pods: [holder('web', 'a', 10, { labels: { app: 'web' } })],
    },
    wanted: ['a', 'web'],
  },
  {
    name: 'evicts nothing with preemptionPolicy Never',
    pod: { preemptionPolicy: 'Never' },
    cluster: { nodes: { a: small }, pods: [holder('a1', 'a', 10, { cpu: '2' })] },
    wanted: undefined,
  },
]

function choose(cluster: ClusterParts, wanted: PodInfo, budgets: readonly object[] = [], nominated = '') {
  const sight = sightOf(cluster)
  if (nominated !== '') sight.cluster.nominate(wanted, nominated)
  const search = searchIn(sight, wanted)
  const decision = runToCompletion(findNode(search))
  assert.ok('refusals' in decision, 'it fits as it is')
  const parts = { ...search, refusals: decision.refusals, budgets: budgets as readonly PodDisruptionBudget[] }
  const before = sight.cluster.nodes.map(({ requested, pods }) => [requested.cpu, pods.size])
  const preemption = mayPreempt(parts) ? runToCompletion(findPreemption(parts)) : undefined
  // The search leaves the cluster state unchanged.
  assert.deepEqual(
    sight.cluster.nodes.map(({ requested, pods }) => [requested.cpu, pods.size]),
    before,
  )
  return preemption && [preemption.node.name, ...preemption.victims.map(({ name }) => name)]
}

for (const { name, pod: parts = {}, cluster, budgets, wanted } of rows)
  test(`preemption: ${name}`, () => {
    const urgent = pod('urgent', { priority: 100, cpu: '1', ...parts })
    assert.deepEqual(choose(cluster, urgent, budgets), wanted)
  })

test('no further pods are preempted while preempted pods are terminating', () => {
  const going = holder('a1', 'a', 10, { cpu: '2', isTerminating: true })
  const cluster = { nodes: two, pods: [going, holder('b1', 'b', 10, { cpu: '2' })] }
  assert.equal(choose(cluster, pod('urgent', { priority: 100, cpu: '1' }), [], 'a'), undefined)
})

test('a node nominated for a pod rejects other pods with lower or equal priority and accepts pods with higher priority', () => {
  const sight = sightOf({ nodes: { a: small } })
  sight.cluster.nominate(pod('kept', { priority: 50, cpu: '2' }), 'a')
  const place = (priority: number) =>
    'node' in runToCompletion(findNode(searchIn(sight, pod('p', { priority, cpu: '1' }))))
  assert.deepEqual([place(10), place(50), place(60)], [false, false, true])
})
