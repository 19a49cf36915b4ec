/** Tests the table of control loops, and the selection of loops with `--controllers`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { clusterBindings } from '../../../src/apiserver/authz/rbac/defaults/bindings.ts'
import { controllerRoles } from '../../../src/apiserver/authz/rbac/defaults/controller-roles.ts'
import { namespacedRoles } from '../../../src/apiserver/authz/rbac/defaults/namespaced-roles.ts'
import { controlLoops } from '../../../src/cluster/controllers/all.ts'
import type { ControlLoop } from '../../../src/cluster/controllers/control-loop.ts'
import { selectLoops } from '../../../src/cluster/controllers/select-loops.ts'
import { root } from '../../support/server.ts'

test('control loops are sorted by name without duplicates', () => {
  const names = controlLoops.map(({ name }) => name)
  assert.deepEqual(names, [...new Set(names)].sort())
})

test('each control loop has a role for its own service account', () => {
  const roles = new Set([...controllerRoles, ...namespacedRoles].map(({ name }) => name))
  const isBound = (role: string, account: string) =>
    clusterBindings.some((binding) => binding.role === role && binding.subjects.some(({ name }) => name === account))
  for (const { name, account, roles: own } of controlLoops) {
    if (account === undefined) continue
    if (own === undefined) assert.ok(roles.has(`system:controller:${account}`), `${name}: ${account}`)
    else for (const role of own) assert.ok(isBound(role, account), `${name}: ${role}`)
  }
})

test('Events from control loops have the same component names as Events from kube-controller-manager', () => {
  const names: { readonly [loop: string]: string } = {
    attachdetach: 'attachdetach-controller',
    cronjob: 'cronjob-controller',
    daemonset: 'daemonset-controller',
    deployment: 'deployment-controller',
    disruption: 'controllermanager',
    endpoint: 'endpoint-controller',
    endpointslice: 'endpoint-slice-controller',
    endpointslicemirroring: 'endpoint-slice-mirroring-controller',
    'ephemeral-volume': 'ephemeral_volume',
    garbagecollector: 'garbage-collector-controller',
    horizontalpodautoscaling: 'horizontal-pod-autoscaler',
    job: 'job-controller',
    nodeipam: 'cidrAllocator',
    nodelifecycle: 'node-controller',
    'persistentvolume-binder': 'persistentvolume-controller',
    'persistentvolume-expander': 'volume_expand',
    replicaset: 'replicaset-controller',
    replicationcontroller: 'replication-controller',
    'resourceclaim-controller': 'resource_claim',
    statefulset: 'statefulset-controller',
  }
  for (const { name, account, eventSource = account } of controlLoops)
    if (names[name] !== undefined) assert.equal(eventSource, names[name], name)
})

test('docs/reference/loops.md describes each control loop', () => {
  const page = readFileSync(join(root, 'docs/reference/loops.md'), 'utf8')
  for (const { name } of controlLoops) assert.match(page, new RegExp(`^\\|.*\`${name}\``, 'm'))
})

const make = () => ({ notRunning: 'not in this test' })
const loops: ControlLoop[] = [
  { name: 'apple', make },
  { name: 'berry', make },
  { name: 'cherry', make, onByDefault: false },
  { name: 'date', make, cluster: true },
]

for (const [words, expected] of [
  [['*'], ['apple', 'berry', 'date']],
  [
    ['*', 'cherry'],
    ['apple', 'berry', 'cherry', 'date'],
  ],
  [
    ['*', '-apple'],
    ['berry', 'date'],
  ],
  [
    ['-apple', '*', 'cherry'],
    ['berry', 'cherry', 'date'],
  ],
  [['cherry'], ['cherry']],
  [['apple', '-apple'], ['apple']],
  [[], []],
] as const)
  test(`--controllers=${words.join()} selects ${expected.join()}`, () => {
    assert.deepEqual(
      selectLoops(loops, words).map(({ name }) => name),
      expected,
    )
  })

test('on a server without a cluster, loops that need a cluster run only if a flag names them', () => {
  const chosen = (words: readonly string[]) => selectLoops(loops, words, { cluster: false }).map(({ name }) => name)
  assert.deepEqual(chosen(['*']), ['apple', 'berry'])
  assert.deepEqual(chosen(['*', 'date']), ['apple', 'berry', 'date'])
})

test('an unknown control loop name is rejected with a list of known names', () => {
  for (const word of ['chery', '-chery'])
    assert.throws(() => selectLoops(loops, ['*', word]), {
      name: 'UsageError',
      message:
        '--controllers: unknown control loop "chery"; did you mean cherry? Known loops are: apple, berry, cherry, date',
    })
})
