/** Tests the audit policy: rule matching and invalid files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import type { User } from '../../../src/api/model/user.ts'
import { groupName, vendorOf } from '../../../src/api/model/vendor.ts'
import { type AuditedRequest, writesOnly } from '../../../src/apiserver/audit/policy.ts'
import { readPolicy } from '../../../src/apiserver/audit/read-policy.ts'

const vendor = vendorOf('orch')
const alice: User = { name: 'alice', uid: '', groups: ['dev', 'system:authenticated'], extra: new Map() }
const of = (rules: Json, rest: object = {}) =>
  readPolicy({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules, ...rest }, vendor)
const pod: AuditedRequest = {
  resource: true,
  verb: 'get',
  path: '/api/v1/namespaces/a/pods/p',
  group: '',
  plural: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
}
const health: AuditedRequest = { resource: false, verb: 'get', path: '/healthz/ping' }

const matching: readonly [what: string, rule: { [key: string]: Json }, request: AuditedRequest, matches: boolean][] = [
  ['all requests', {}, pod, true],
  ['a user', { users: ['alice'] }, pod, true],
  ['another user', { users: ['bob'] }, pod, false],
  ['a group', { userGroups: ['ops', 'dev'] }, pod, true],
  ['another group', { userGroups: ['ops'] }, pod, false],
  ['a verb', { verbs: ['get', 'list'] }, pod, true],
  ['another verb', { verbs: ['list'] }, pod, false],
  ['a namespace', { namespaces: ['a'] }, pod, true],
  ['another namespace', { namespaces: ['b', ''] }, pod, false],
  ['a namespace, for a non-resource request', { namespaces: [''] }, health, false],
  ['a whole group', { resources: [{ group: '' }] }, pod, true],
  ['another API group', { resources: [{ group: 'apps' }] }, pod, false],
  ['a resource', { resources: [{ resources: ['secrets', 'pods'] }] }, pod, true],
  [
    'a resource, for a request to its subresource',
    { resources: [{ resources: ['pods'] }] },
    { ...pod, subresource: 'log' },
    false,
  ],
  ['a subresource', { resources: [{ resources: ['pods/log'] }] }, { ...pod, subresource: 'log' }, true],
  ['all subresources', { resources: [{ resources: ['pods/*'] }] }, { ...pod, subresource: 'log' }, true],
  ['one subresource of all resources', { resources: [{ resources: ['*/log'] }] }, { ...pod, subresource: 'log' }, true],
  ['subresources, for a request to the main resource', { resources: [{ resources: ['*/log'] }] }, pod, false],
  ['everything', { resources: [{ resources: ['*'] }] }, { ...pod, subresource: 'log' }, true],
  ['a name', { resources: [{ resources: ['pods'], resourceNames: ['p'] }] }, pod, true],
  ['another name', { resources: [{ resources: ['pods'], resourceNames: ['q'] }] }, pod, false],
  ['a path', { nonResourceURLs: ['/healthz/ping'] }, health, true],
  ['paths', { nonResourceURLs: ['/healthz*'] }, health, true],
  ['all paths', { nonResourceURLs: ['*'] }, health, true],
  ['all non-resource paths, for a resource request', { nonResourceURLs: ['*'] }, pod, false],
]

for (const [what, rule, request, matches] of matching)
  test(`an audit rule for ${what} matches: ${matches}`, () => {
    const { level } = of([{ level: 'Request', ...rule }])(request, alice)
    assert.equal(level, matches ? 'Request' : 'None')
  })

test('the first matching audit rule sets the level, and its omitStages are added to the omitStages of the policy', () => {
  const policy = of(
    [
      { level: 'None', users: ['bob'] },
      { level: 'Metadata', omitStages: ['ResponseStarted'], omitManagedFields: false },
      { level: 'RequestResponse' },
    ],
    { omitStages: ['RequestReceived'], omitManagedFields: true },
  )
  const { level, omitStages, omitManagedFields } = policy(pod, alice)
  assert.deepEqual(
    [level, [...omitStages], omitManagedFields],
    ['Metadata', ['RequestReceived', 'ResponseStarted'], false],
  )
})

test('an unauthenticated request matches no audit rule for users or groups', () => {
  const policy = of([
    { level: 'None', users: ['alice'] },
    { level: 'None', userGroups: ['dev'] },
    { level: 'Metadata' },
  ])
  assert.equal(policy(pod, undefined).level, 'Metadata')
})

const refused: readonly [Json, RegExp][] = [
  [{ kind: 'Policy', apiVersion: 'audit.k8s.io/v1', rules: [{ level: 'None' }] }, /kind Policy in audit\.orch\.io\/v1/],
  [{ kind: 'Policy', apiVersion: 'audit.orch.io/v1' }, /rules/],
  [{ kind: 'Policy', apiVersion: 'audit.orch.io/v1', rules: [] }, /rules/],
  [policyWith({ level: 'Everything' }), /rules\[0\]\.level/],
  [policyWith({ users: ['a'] }), /rules\[0\]\.level/],
  [policyWith({ level: 'None', user: ['a'] }), /unknown field "rules\[0\]\.user"/],
  [policyWith({ level: 'None', omitStages: ['Later'] }), /rules\[0\]\.omitStages\[0\]/],
  [policyWith({ level: 'None', nonResourceURLs: ['healthz'] }), /rules\[0\]\.nonResourceURLs\[0\].*slash/],
  [policyWith({ level: 'None', nonResourceURLs: ['/a*b'] }), /last character/],
  [policyWith({ level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] }), /not both/],
  [policyWith({ level: 'None', resources: [{ resourceNames: ['a'] }] }), /resourceNames: requires resources/],
  [policyWith({ level: 'None', resources: [{ resources: ['po*'] }] }), /rules\[0\]\.resources\[0\]\.resources\[0\]/],
]

function policyWith(rule: Json): Json {
  return { kind: 'Policy', apiVersion: 'audit.orch.io/v1', rules: [rule] }
}

for (const [value, why] of refused)
  test(`an invalid audit policy is rejected: ${why.source}`, () => assert.throws(() => readPolicy(value, vendor), why))

test('without a policy, writes are audited except for leases and events', () => {
  const policy = writesOnly((id) => groupName(vendor, id))
  const lease = { ...pod, verb: 'update', group: 'coordination.orch.io', plural: 'leases' }
  const levels = [pod, { ...pod, verb: 'delete' }, lease].map((request) => policy(request, alice).level)
  assert.deepEqual(levels, ['None', 'Metadata', 'None'])
})
