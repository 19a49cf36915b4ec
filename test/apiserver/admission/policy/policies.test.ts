/** Tests the collection of stored policies and bindings, which is kept up to date from a cache. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Follower, Lookup, StoredType } from '../../../../src/api/model/lookup.ts'
import type { AdmissionRequest } from '../../../../src/apiserver/admission/admission.ts'
import { validatingFamily } from '../../../../src/apiserver/admission/policy/families.ts'
import { Policies } from '../../../../src/apiserver/admission/policy/policies.ts'
import { assertBrief } from '../../../support/effort.ts'

const forms = { requested: { resource: { group: '', version: 'v1', resource: 'pods' } }, others: [] }
const podRequest = { operation: 'CREATE', forms, subresource: '', namespace: 'a', name: 'p' }
const request = podRequest as unknown as AdmissionRequest
const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]

/** Stored objects by plural name and object name. Objects are parsed on each read, as in the server. */
let stored: Map<string, Map<string, string>>
let followers: Map<string, Follower>
const lookup = {
  follow: ({ plural }: StoredType, follower: Follower) => {
    followers.set(plural, follower)
    follower.reset()
    return true
  },
  readUncached: ({ plural }: StoredType, { name }: { name: string }) => {
    const text = stored.get(plural)?.get(name)
    return text === undefined ? undefined : JSON.parse(text)
  },
  readAllUncached: function* ({ plural }: StoredType) {
    for (const [name, text] of stored.get(plural) ?? []) yield [{ namespace: '', name }, JSON.parse(text)]
  },
} as unknown as Lookup

beforeEach(() => {
  stored = new Map()
  followers = new Map()
})

function start() {
  return new Policies(validatingFamily, { lookup, loadPatterns: () => Promise.reject(new Error('no patterns')) })
}

function put({ plural }: StoredType<unknown>, name: string, spec?: object): void {
  const objects = stored.get(plural) ?? new Map<string, string>()
  stored.set(plural, objects)
  if (spec === undefined) objects.delete(name)
  else objects.set(name, JSON.stringify({ metadata: { name, uid: name, generation: 1 }, spec }))
  followers.get(plural)?.changed({ namespace: '', name })
}

const putPolicy = (name: string) => put(validatingFamily.policies, name, { matchConstraints: { resourceRules } })
const putBinding = (name: string, policyName: string) =>
  put(validatingFamily.bindings, name, { policyName, validationActions: ['Deny'] })
const removePolicy = (name: string) => put(validatingFamily.policies, name)
const removeBinding = (name: string) => put(validatingFamily.bindings, name)

async function pairs(policies: ReturnType<typeof start>): Promise<string[]> {
  const candidates = await policies.candidates(request)
  return candidates
    .select({ namespace: {}, objects: [] })
    .map(({ policy, binding }) => `${policy.name} ${binding.name} ${binding.actions}`)
}

test('the bindings considered for a request reflect every change to a policy or a binding', async () => {
  putBinding('b2', 'p')
  putBinding('b1', 'p')
  putBinding('other', 'q')
  const policies = start()
  assert.deepEqual(await pairs(policies), [])
  assert.ok(policies.isEmpty)
  putPolicy('p')
  assert.ok(!policies.isEmpty)
  assert.deepEqual(await pairs(policies), ['p b1 Deny', 'p b2 Deny'])
  putPolicy('q')
  putBinding('b1', 'q')
  assert.deepEqual(await pairs(policies), ['p b2 Deny', 'q b1 Deny', 'q other Deny'])
  removeBinding('b2')
  assert.deepEqual(await pairs(policies), ['q b1 Deny', 'q other Deny'])
  putBinding('b3', 'p')
  removePolicy('q')
  assert.deepEqual(await pairs(policies), ['p b3 Deny'])
  stored.clear()
  for (const follower of followers.values()) follower.reset()
  assert.deepEqual(await pairs(policies), [])
  assert.ok(policies.isEmpty)
})

test('a change to a policy binding does not discard the compiled expressions of other policies', async () => {
  putPolicy('p')
  putBinding('b', 'p')
  const policies = start()
  const only = async () => (await policies.candidates(request)).select({ namespace: {}, objects: [] })[0]!
  const before = await only()
  const compiled = before.policy.compiled()
  await assert.rejects(Promise.resolve(compiled), /no patterns/)
  putBinding('c', 'q')
  const after = await only()
  assert.equal(after.binding, before.binding)
  assert.equal(after.policy.compiled(), compiled)
})

test('the first request after a start does not block other requests while it reads 20,000 bindings', async () => {
  putPolicy('p')
  for (let i = 0; i < 20_000; i++) putBinding(`b${i}`, `p${i % 1000}`)
  putBinding('b', 'p')
  await assertBrief(30, async () => assert.deepEqual(await pairs(start()), ['p b Deny']))
})

test('the state of a policy changes only if the policy or one of its bindings changes', async () => {
  putPolicy('p')
  putPolicy('q')
  putBinding('b', 'p')
  const policies = start()
  const first = await policies.states()
  assert.deepEqual([...first.keys()], ['p', 'q'])
  putBinding('other', 'q')
  const second = await policies.states()
  assert.equal(second.get('p'), first.get('p'))
  assert.notEqual(second.get('q'), first.get('q'))
  removeBinding('b')
  const third = await policies.states()
  assert.notEqual(third.get('p'), first.get('p'))
  assert.equal((await policies.find('p'))?.state, third.get('p'))
  assert.deepEqual((await policies.find('p'))?.bindings, [])
  putBinding('b', 'p')
  const fourth = await policies.states()
  assert.ok(![first, second, third].some((states) => states.get('p') === fourth.get('p')))
  removePolicy('p')
  assert.equal(await policies.find('p'), undefined)
})

test('a policy report does not block other requests while the server reads 20,000 bindings', async () => {
  putPolicy('p')
  for (let i = 0; i < 20_000; i++) putBinding(`b${i}`, `p${i % 1000}`)
  await assertBrief(30, async () => assert.deepEqual((await start().find('p'))?.bindings, []))
})
