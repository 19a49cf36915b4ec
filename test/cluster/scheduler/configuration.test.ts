/** Tests reading the configuration of kube-scheduler, and the errors for invalid configurations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { readConfiguration } from '../../../src/cluster/scheduler/configuration.ts'
import { defaultProfile } from '../../../src/cluster/scheduler/profile.ts'
import { placeOf, pod } from '../../support/scheduling.ts'

const file = (rest: JsonObject = {}, version = 'kubescheduler.config.k8s.io/v1beta3'): Json => ({
  apiVersion: version,
  kind: 'KubeSchedulerConfiguration',
  ...rest,
})
const withPlugins = (plugins: JsonObject) => readConfiguration(file({ profiles: [{ plugins }] })).profiles[0]!
const names = (plugins: readonly { readonly name: string }[]) => plugins.map(({ name }) => name)
const weights = (config: Json) =>
  Object.fromEntries(readConfiguration(config).profiles[0]!.scores.map(({ plugin, weight }) => [plugin.name, weight]))

test('an empty scheduler configuration results in the default settings', () => {
  const { profiles, percentageOfNodes, timing } = readConfiguration(file())
  assert.deepEqual([percentageOfNodes, timing.firstBackoffMs, timing.maxBackoffMs], [0, 1000, 10_000])
  assert.deepEqual(
    profiles.map(({ schedulerName, filters, preempts }) => [schedulerName, names(filters), preempts]),
    [['default-scheduler', names(defaultProfile.filters), true]],
  )
})

test('the default weights of scheduler plugins depend on the configuration version', () => {
  const { TaintToleration, NodeAffinity, PodTopologySpread } = weights(file())
  assert.deepEqual([TaintToleration, NodeAffinity, PodTopologySpread], [3, 2, 2])
  const before = weights(file({}, 'kubescheduler.config.orch.io/v1beta2'))
  assert.deepEqual([before.TaintToleration, before.NodeAffinity, before.PodTopologySpread], [1, 1, 2])
})

test('the scheduler configuration sets profiles, backoff times and percentageOfNodesToScore', () => {
  const profiles = [{ schedulerName: 'a' }, { schedulerName: 'b' }]
  const found = readConfiguration(file({ profiles, percentageOfNodesToScore: 30, podMaxBackoffSeconds: 60 }))
  assert.deepEqual(
    found.profiles.map(({ schedulerName }) => schedulerName),
    ['a', 'b'],
  )
  assert.deepEqual([found.percentageOfNodes, found.timing.maxBackoffMs], [30, 60_000])
})

test('scheduler plugins can be disabled and enabled at one or all extension points', () => {
  const noTaints = withPlugins({ filter: { disabled: [{ name: 'TaintToleration' }] } })
  assert.equal(names(noTaints.filters).includes('TaintToleration'), false)
  assert.equal(
    noTaints.scores.some(({ plugin }) => plugin.name === 'TaintToleration'),
    true,
  )
  const only = withPlugins({
    score: { disabled: [{ name: '*' }], enabled: [{ name: 'ImageLocality', weight: 7 }] },
    postFilter: { disabled: [{ name: '*' }] },
  })
  assert.deepEqual(
    only.scores.map(({ plugin, weight }) => [plugin.name, weight]),
    [['ImageLocality', 7]],
  )
  assert.equal(only.preempts, false)
  const bare = withPlugins({ multiPoint: { disabled: [{ name: '*' }] } })
  assert.deepEqual([bare.filters.length, bare.scores.length, bare.preempts], [0, 0, false])
})

test('the MostAllocated strategy prefers the most utilized node that has room for the pod', () => {
  const pluginConfig = [{ name: 'NodeResourcesFit', args: { scoringStrategy: { type: 'MostAllocated' } } }]
  const plugins = { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit' }] } }
  const [profile] = readConfiguration(file({ profiles: [{ plugins, pluginConfig }] })).profiles
  const cluster = { nodes: { a: {}, b: {} }, pods: [pod('other', { on: 'b', cpu: '2', memory: '1Gi' })] }
  assert.equal(placeOf(cluster, pod('p', { cpu: '1', memory: '1Gi' }), profile), 'b')
  assert.equal(placeOf(cluster, pod('p', { cpu: '1', memory: '1Gi' })), 'a')
})

for (const [config, pattern] of [
  [null, /^the file must be an object$/],
  [
    { kind: 'KubeSchedulerConfiguration', apiVersion: 'v1' },
    /^it must be of kind KubeSchedulerConfiguration in v1beta2/,
  ],
  [file({ leaderElection: {} }), /^leaderElection is not supported; supported fields are apiVersion, kind, profiles/],
  [file({ extenders: [] }), /^extenders is not supported/],
  [file({ profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] }), /^profiles: "a" is specified more than once$/],
  [file({ profiles: [{ plugins: { bind: {} } }] }), /^profiles\[0\]\.plugins\.bind is not supported/],
  [
    file({ profiles: [{ plugins: { score: { enabled: [{ name: 'Magic' }] } } }] }),
    /^profiles\[0\]\.plugins\.score\.enabled\[0\]\.name: unknown plugin "Magic"; known plugins are NodeUnschedulable, /,
  ],
  [
    file({ profiles: [{ pluginConfig: [{ name: 'NodeResourcesFit', args: { ignoredResources: [] } }] }] }),
    /^profiles\[0\]\.pluginConfig\[0\]\.args\.ignoredResources is not supported/,
  ],
  [
    file({ profiles: [{ pluginConfig: [{ name: 'toString' }] }] }),
    /^profiles\[0\]\.pluginConfig\[0\]\.name: only these plugins accept arguments: NodeResourcesFit, InterPodAffinity, PodTopologySpread$/,
  ],
  [
    file({
      profiles: [
        {
          pluginConfig: [
            {
              name: 'PodTopologySpread',
              args: { defaultingType: 'List', defaultConstraints: [{ topologyKey: 'zone' }] },
            },
          ],
        },
      ],
    }),
    /^profiles\[0\]\.pluginConfig\[0\]\.args\.defaultConstraints\[0\]\.whenUnsatisfiable must be a string$/,
  ],
  [file({ percentageOfNodesToScore: 101 }), /^percentageOfNodesToScore must be a number from 0 to 100$/],
] as const)
  test(`a scheduler configuration is rejected: ${String(pattern).slice(2, 60)}`, () => {
    assert.throws(() => readConfiguration(config as Json), { message: pattern })
  })
