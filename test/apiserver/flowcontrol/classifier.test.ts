/** Tests the classification of requests, with tables of subjects, rules and precedence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { suggestedFlowSchemas } from '../../../src/api/kinds/flowcontrol/types/suggested.ts'
import type { User } from '../../../src/api/model/user.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { Classifier } from '../../../src/apiserver/flowcontrol/classifier.ts'
import { compileRules, type FlowAttributes } from '../../../src/apiserver/flowcontrol/flow-schema-rules.ts'
import { demandOfWrite, seatsOfInitialEvents, seatsOfList } from '../../../src/apiserver/flowcontrol/work-estimate.ts'

const compile = (name: string, spec: Json) => ({
  name,
  rules: compileRules({ apiVersion: '', kind: '', metadata: { name }, spec } as Parameters<typeof compileRules>[0]),
})
const last = compile('otherwise', {})
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: new Map() })
const on = (verb: string, path: string, group = ''): FlowAttributes => {
  const [namespace = '', plural = '', name = '', subresource = ''] = path.split('/')
  return { resource: true, verb, group, namespace, plural, name, subresource }
}
const at = (verb: string, path: string): FlowAttributes => ({ resource: false, verb, path })

const suggested = [...suggestedFlowSchemas(vendorOf('kubernetes'), '1.23')]
  .map(([name, spec]) => ({ ...compile(name, spec), at: (spec as { matchingPrecedence: number }).matchingPrecedence }))
  .sort((a, b) => a.at - b.at)
const ann = user('ann', 'system:authenticated')
const agent = user('system:node:n', 'system:nodes', 'system:authenticated')
const manager = user('system:kube-controller-manager', 'system:authenticated')
const inSystem = user('system:serviceaccount:kube-system:x', 'system:serviceaccounts', 'system:authenticated')
const elsewhere = user('system:serviceaccount:a:x', 'system:serviceaccounts', 'system:authenticated')
const leases = 'coordination.k8s.io'

const belongs: readonly (readonly [User, FlowAttributes, string])[] = [
  [ann, on('list', 'a/pods'), 'global-default'],
  [ann, at('get', '/readyz'), 'probes'],
  [ann, at('post', '/readyz'), 'global-default'],
  [user('system:anonymous', 'system:unauthenticated'), at('get', '/livez'), 'probes'],
  [agent, on('patch', '/nodes/n/status'), 'system-node-high'],
  [agent, on('update', 'kube-node-lease/leases/n', leases), 'system-node-high'],
  [agent, on('get', 'a/secrets/s'), 'system-nodes'],
  [manager, on('update', 'kube-system/leases/m', leases), 'system-leader-election'],
  [manager, on('get', 'kube-system/configmaps/m'), 'system-leader-election'],
  [manager, on('get', 'other/configmaps/m'), 'kube-controller-manager'],
  [manager, on('delete', 'kube-system/leases/m', leases), 'kube-controller-manager'],
  [inSystem, on('get', 'other/configmaps/m'), 'workload-leader-election'],
  [inSystem, on('list', '/pods'), 'kube-system-service-accounts'],
  [elsewhere, on('list', '/pods'), 'service-accounts'],
  [user('nobody'), on('list', '/pods'), 'otherwise'],
]

test('the suggested FlowSchemas classify requests from nodes, leader election, control loops and users', () => {
  const classifier = new Classifier(suggested, { ...last, at: 0 })
  for (const [who, what, name] of belongs)
    assert.equal(classifier.find(who, what).name, name, `${who.name} ${JSON.stringify(what)}`)
})

const subjects = [{ kind: 'Group', group: { name: '*' } }]
const rule = {
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods', 'pods/log'],
  namespaces: ['a'],
  clusterScope: false,
}

const matches: readonly (readonly [change: { [field: string]: Json }, FlowAttributes, boolean])[] = [
  [{}, on('get', 'a/pods/p'), true],
  [{}, on('get', 'a/pods/p/log'), true],
  [{}, on('get', 'a/pods/p/exec'), false],
  [{}, on('list', 'a/pods'), false],
  [{}, on('get', 'b/pods/p'), false],
  [{}, on('get', '/pods'), false],
  [{ clusterScope: true }, on('get', '/pods'), true],
  [{ namespaces: ['*'] }, on('get', 'b/pods/p'), true],
  [{ namespaces: ['*'] }, on('get', '/pods'), false],
  [{ resources: ['*'], verbs: ['*'] }, on('delete', 'a/secrets/s'), true],
  [{ apiGroups: ['x'] }, on('get', 'a/pods/p'), false],
  [{ resources: ['namespaces'] }, on('get', '/namespaces/a'), true],
  [{ resources: ['namespaces'] }, on('get', '/namespaces/b'), false],
]

test('a FlowSchema rule matches verbs, groups, resources and namespaces', () => {
  for (const [change, what, expected] of matches) {
    const rules = [{ subjects, resourceRules: [{ ...rule, ...change }] }]
    const found = new Classifier([compile('it', { rules })], last).find(ann, what).name
    assert.equal(found === 'it', expected, `${JSON.stringify(change)} ${JSON.stringify(what)}`)
  }
  const paths = [{ subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a', '/b/*'] }] }]
  const classifier = new Classifier([compile('it', { rules: paths })], last)
  const found = ['/a', '/a/b', '/b', '/b/c', '/bc'].filter(
    (path) => classifier.find(ann, at('get', path)).name === 'it',
  )
  assert.deepEqual(found, ['/a', '/b/c'])
})

test('FlowSchema subjects match users, groups and service accounts by name or wildcard', () => {
  const subject = (...each: Json[]) => ({
    rules: [{ subjects: each, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }],
  })
  const isSubject = (who: User, ...each: Json[]) =>
    new Classifier([compile('it', subject(...each))], last).find(who, at('get', '/')).name === 'it'
  const account = (namespace: string, name: string) => ({ kind: 'ServiceAccount', serviceAccount: { namespace, name } })
  assert.deepEqual(
    [
      isSubject(ann, { kind: 'User', user: { name: 'ann' } }),
      isSubject(ann, { kind: 'User', user: { name: 'bob' } }),
      isSubject(ann, { kind: 'User', user: { name: '*' } }),
      isSubject(elsewhere, account('a', 'x')),
      isSubject(elsewhere, account('a', '*')),
      isSubject(elsewhere, account('b', '*')),
      isSubject(ann, account('a', '*')),
      isSubject(ann, { kind: 'Group', group: { name: 'system:nodes' } }, { kind: 'User', user: { name: 'ann' } }),
    ],
    [true, false, true, true, true, false, false, true],
  )
})

const estimates: readonly (readonly [stored: number, query: string, seats: number])[] = [
  [50, '', 1],
  [51, '', 2],
  [1000, '', 10],
  [100_000, '', 10],
  [100_000, 'limit=50', 1],
  [100_000, 'limit=500', 10],
  [400, 'resourceVersion=0', 4],
  [400, 'resourceVersion=0&limit=10', 4],
  [400, 'resourceVersion=7', 4],
  [400, 'resourceVersion=7&limit=10', 1],
  [400, 'labelSelector=a%3Db', 8],
  [400, 'labelSelector=a%3Db&limit=100', 5],
  [100_000, 'fieldSelector=metadata.name%3Da', 1],
  [100_000, 'limit=-5', 10],
  [100_000, 'limit=what', 10],
]

test('the number of seats for a list request depends on the number of objects that the server has to read', () => {
  for (const [stored, query, seats] of estimates)
    assert.equal(seatsOfList(stored, new URLSearchParams(query)), seats, `${stored} ${query}`)
})

test('initial watch events and the watch events that a write causes count as work for flow control', () => {
  const seats = [0, 1, 100, 101, 999, 5000].map(seatsOfInitialEvents)
  assert.deepEqual(seats, [1, 1, 1, 2, 10, 10])
  assert.deepEqual(demandOfWrite(9), { seats: 1, work: 3 })
  assert.deepEqual(demandOfWrite(10), { seats: 1, work: 3, extraMs: 5 })
  assert.deepEqual(demandOfWrite(11), { seats: 2, work: 3, extraMs: 5 })
  assert.deepEqual(demandOfWrite(2000), { seats: 10, work: 3, extraMs: 5 })
})
