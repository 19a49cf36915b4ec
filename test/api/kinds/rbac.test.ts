/**
 * Tests Role, ClusterRole and their bindings: validation of rules and subjects, defaults, immutable fields, and
 * tables.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { clusterRole } from '../../../src/api/kinds/rbac/cluster-role.ts'
import { clusterRoleBinding } from '../../../src/api/kinds/rbac/cluster-role-binding.ts'
import { role } from '../../../src/api/kinds/rbac/role.ts'
import { roleBinding } from '../../../src/api/kinds/rbac/role-binding.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const group = 'rbac.authorization.orch.io'
const verbs = ['get']

const rules: readonly (readonly [rule: JsonObject, inRole: readonly string[], inClusterRole: readonly string[]])[] = [
  [{ verbs, apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, [], []],
  [{ verbs, apiGroups: ['*'], resources: ['*/log'] }, [], []],
  [
    {},
    ['Required apiGroups', 'Required resources', 'Required verbs'],
    ['Required apiGroups', 'Required resources', 'Required verbs'],
  ],
  [{ verbs, resources: ['pods'] }, ['Required apiGroups'], ['Required apiGroups']],
  [{ verbs: [], apiGroups: [''], resources: ['pods'] }, ['Required verbs'], ['Required verbs']],
  [{ verbs, nonResourceURLs: ['/metrics', '/logs/*'] }, ['Invalid nonResourceURLs'], []],
  [{ verbs, nonResourceURLs: ['/x'], resourceNames: ['a'] }, ['Invalid nonResourceURLs'], ['Invalid nonResourceURLs']],
  [{ nonResourceURLs: ['/x'] }, ['Invalid nonResourceURLs', 'Required verbs'], ['Required verbs']],
]

test('an RBAC rule grants access to resources or, in a ClusterRole, to non-resource URLs', () => {
  for (const [rule, inRole, inClusterRole] of rules) {
    const expected = (faults: readonly string[]) => faults.map((fault) => fault.replace(' ', ' rules[0].'))
    assert.deepEqual(createBy(role, named({ rules: [rule] })).faults, expected(inRole), JSON.stringify(rule))
    assert.deepEqual(
      createBy(clusterRole, named({ rules: [rule] })).faults,
      expected(inClusterRole),
      JSON.stringify(rule),
    )
  }
  assert.deepEqual(createBy(role, named({})).faults, [])
})

test('an aggregation rule of a ClusterRole requires valid label selectors', () => {
  const faultsOf = (aggregationRule: JsonObject) => createBy(clusterRole, named({ aggregationRule })).faults
  const place = 'aggregationRule.clusterRoleSelectors'
  assert.deepEqual(faultsOf({}), [`Required ${place}`])
  assert.deepEqual(faultsOf({ clusterRoleSelectors: [{}, { matchLabels: { a: 'b' } }] }), [])
  const bad = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
  assert.deepEqual(faultsOf({ clusterRoleSelectors: [{}, bad] }), [
    `Invalid ${place}[1]`,
    `Invalid ${place}[1].matchExpressions[0].operator`,
  ])
})

test('RBAC names may contain colons and capital letters but no slashes', () => {
  for (const kind of [role, clusterRole, roleBinding, clusterRoleBinding]) {
    assert.deepEqual(kind.nameFormat('System:Reader:v1_x'), [])
    assert.deepEqual(
      ['a/b', 'a%b', '.', '..'].map((name) => kind.nameFormat(name).length),
      [1, 1, 1, 1],
    )
  }
})

const roleRef = { kind: 'ClusterRole', name: 'r' }

test('the default apiGroup of an RBAC subject depends on the kind of the subject', () => {
  const kinds = ['User', 'Group', 'ServiceAccount']
  const { object, faults } = createBy(
    roleBinding,
    named({ roleRef, subjects: kinds.map((kind) => ({ kind, name: 'a' })) }),
  )
  assert.deepEqual(faults, [])
  const { subjects, roleRef: filled } = asJson(object) as { subjects: JsonObject[]; roleRef: JsonObject }
  assert.deepEqual(filled, { ...roleRef, apiGroup: group })
  assert.deepEqual(
    subjects.map(({ apiGroup }) => apiGroup),
    [group, group, undefined],
  )
})

test('an RBAC binding with an invalid role reference or subject is rejected', () => {
  const subject = (one: JsonObject) => ({ roleRef, subjects: [one] })
  const cases: readonly (readonly [sent: JsonObject, faults: readonly string[], inCluster?: readonly string[]])[] = [
    [{ roleRef: { kind: 'Role', name: 'A:b' } }, [], ['NotSupported roleRef.kind']],
    [{}, ['NotSupported roleRef.kind', 'Required roleRef.name']],
    [{ roleRef: { ...roleRef, apiGroup: 'x' } }, ['NotSupported roleRef.apiGroup']],
    [{ roleRef: { ...roleRef, name: 'x/y' } }, ['Invalid roleRef.name']],
    [subject({}), ['NotSupported subjects[0].kind', 'Required subjects[0].name']],
    [subject({ kind: 'Robot', name: 'x' }), ['NotSupported subjects[0].kind']],
    [subject({ kind: 'User' }), ['Required subjects[0].name']],
    [subject({ kind: 'Group', name: '*', apiGroup: 'x' }), ['NotSupported subjects[0].apiGroup']],
    [subject({ kind: 'ServiceAccount', name: 'a' }), [], ['Required subjects[0].namespace']],
    [subject({ kind: 'ServiceAccount', name: 'A', namespace: 'n' }), ['Invalid subjects[0].name']],
    [
      subject({ kind: 'ServiceAccount', name: 'a', namespace: 'n', apiGroup: group }),
      ['NotSupported subjects[0].apiGroup'],
    ],
  ]
  for (const [sent, faults, inCluster = faults] of cases) {
    assert.deepEqual(createBy(roleBinding, named(sent)).faults, faults, JSON.stringify(sent))
    assert.deepEqual(createBy(clusterRoleBinding, named(sent)).faults, inCluster, JSON.stringify(sent))
  }
})

test('the subjects of an RBAC binding are mutable, but the role reference is immutable', () => {
  for (const kind of [roleBinding, clusterRoleBinding]) {
    const { object } = createBy(kind, named({ roleRef }))
    const faultsOf = (sent: JsonObject) => updateBy(kind, object, named(sent)).faults
    assert.deepEqual(
      faultsOf({ roleRef: { ...roleRef, apiGroup: group }, subjects: [{ kind: 'User', name: 'u' }] }),
      [],
    )
    assert.deepEqual(faultsOf({ roleRef: { ...roleRef, name: 'other' } }), ['Invalid roleRef'])
  }
})

test('the wide table of RBAC bindings shows the subjects', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'Group', name: 'g' },
    { kind: 'User', name: 'v' },
    { kind: 'ServiceAccount', name: 's' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ]
  const [name, of, , ...who] = cellsOf(roleBinding, createBy(roleBinding, named({ roleRef, subjects })).object)
  assert.deepEqual([name, of, ...who], ['x', 'ClusterRole/r', 'u, v', 'g', '/s, n/s'])
})

function named(sent: JsonObject): JsonObject {
  return { metadata: { name: 'x' }, ...sent }
}
