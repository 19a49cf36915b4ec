/**
 * Tests write conditions: a decision that depends on another object must still be valid when a create, update or delete
 * is committed. The admission plugin receives the outcome of each attempt.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { ApiError } from '../../../src/api/model/api-error.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import {
  type Admission,
  type AdmissionRequest,
  admitAll,
  type WriteOutcome,
} from '../../../src/apiserver/admission/admission.ts'
import { Catalogue } from '../../../src/apiserver/registry/catalogue/catalogue.ts'
import { keyOf, type RegistryParts, serveKinds } from '../../../src/apiserver/registry/catalogue/resource.ts'
import { ContinueTokens } from '../../../src/apiserver/registry/reads/continue-token.ts'
import { HistoryReaders } from '../../../src/apiserver/registry/reads/history-readers.ts'
import { stored } from '../../../src/apiserver/registry/reads/lookup.ts'
import { create } from '../../../src/apiserver/registry/verbs/create.ts'
import { deleteObject } from '../../../src/apiserver/registry/verbs/delete.ts'
import { updateObject } from '../../../src/apiserver/registry/verbs/update.ts'
import type { WriteContext } from '../../../src/apiserver/registry/writes/write.ts'
import { contextOf } from '../../../src/apiserver/upkeep/own-objects.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { StoreError } from '../../../src/storage/store/store.ts'

const vendor = vendorOf('orch')
const store = new MemoryStore()
const caches = new Caches(store, { onError: assert.fail, onUnreadable: ({ key }) => assert.fail(key) })
const registry = {
  vendor,
  store,
  caches,
  clock: systemClock,
  gates: undefined,
  lifetimeSeconds: 60,
  pools: new Map(),
  continueTokens: new ContinueTokens(Buffer.alloc(32)),
  historyReaders: new HistoryReaders(),
} as unknown as RegistryParts
const catalogue = new Catalogue(vendor)
catalogue.add(serveKinds([configMap], registry, []))
const maps = stored(catalogue, { group: 'core', plural: 'configmaps' })
await caches.start()
after(() => caches.stop())

const map = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const plain = contextOf(maps, 'default', 'CreateOptions')
const change = (name: string, value: string) => (context: WriteContext) =>
  updateObject(context, name, ({ metadata: { resourceVersion: _, ...metadata }, ...rest }) => ({
    object: { ...rest, metadata, data: { value } } as unknown as ApiObject,
    managed: false,
  }))
const remove = (name: string) => (context: WriteContext) =>
  deleteObject(context, name, {
    gracePeriodSeconds: undefined,
    propagation: undefined,
    preconditions: [],
  })
const make = (name: string) => (context: WriteContext) => create(context, { object: map(name), managed: false })

await make('rule')(plain)
const rule = keyOf(maps, 'default', 'rule')

/** The write depends on the rule, which another writer changes between the first decision and the commit. */
function resting(): { admission: Admission; seen: number[]; outcomes: WriteOutcome[] } {
  const seen: number[] = []
  const outcomes: WriteOutcome[] = []
  const validate = async ({ dependOn, onOutcome }: AdmissionRequest) => {
    const { revision } = maps.cache.get(rule)!
    seen.push(revision)
    dependOn!({ key: rule, revision })
    onOutcome!((outcome) => void outcomes.push(outcome))
    if (seen.length === 1) await change('rule', String(Math.random()))(plain)
  }
  return { admission: { ...admitAll, validate }, seen, outcomes }
}

for (const [writeMethod, act, last] of [
  ['a create', make('a'), 'stored'],
  ['an update', change('a', 'x'), 'stored'],
  ['a delete', remove('a'), 'removed'],
] as const)
  test(`${writeMethod} runs admission again if an object on which admission depends has changed`, async () => {
    const { admission, seen, outcomes } = resting()
    await act({ ...plain, admission })
    assert.equal(seen.length, 2)
    assert.ok(seen[1]! > seen[0]!)
    assert.deepEqual(outcomes, ['failed', last])
  })

test('a write whose deadline has passed is not stored', async () => {
  await make('late')(plain)
  const { revision } = maps.cache.get(keyOf(maps, 'default', 'late'))!
  const deadline = systemClock.monotonic() + 5
  const validate = async () => {
    while (systemClock.monotonic() <= deadline) await new Promise(setImmediate)
  }
  const late = { ...plain, deadline, admission: { ...admitAll, validate } }
  for (const act of [make('later'), change('late', 'x'), remove('late')])
    await assert.rejects(act(late), { code: 504, reason: 'Timeout' })
  assert.equal(maps.cache.get(keyOf(maps, 'default', 'later')), undefined)
  assert.equal(maps.cache.get(keyOf(maps, 'default', 'late'))!.revision, revision)
})

test('admission of a dry run registers no dependencies and no follow-up actions', async () => {
  const validate = async ({ dependOn, onOutcome }: AdmissionRequest) =>
    assert.deepEqual([dependOn, onOutcome], [undefined, undefined])
  for (const act of [make('b'), change('rule', 'y'), remove('rule')])
    await act({ ...plain, dryRun: true, admission: { ...admitAll, validate } })
})

test('an admission plugin is notified when a write is rejected, when it changes nothing and when its response is lost', async () => {
  const outcomes: WriteOutcome[] = []
  const noting = (then: () => void) => ({
    ...plain,
    admission: {
      ...admitAll,
      validate: async ({ onOutcome }: AdmissionRequest) => {
        onOutcome!((outcome) => void outcomes.push(outcome))
        then()
      },
    },
  })
  const refuse = () => {
    throw new ApiError(403, 'Forbidden', 'no')
  }
  await assert.rejects(make('c')(noting(refuse)), { code: 403 })
  await assert.rejects(make('rule')(noting(() => {})), { reason: 'AlreadyExists' })
  await updateObject(
    noting(() => {}),
    'rule',
    (previous) => ({ object: previous, managed: true }),
  )
  const lose = () => {
    throw new StoreError('the answer was lost', { ambiguous: true })
  }
  await assert.rejects(make('c')(noting(lose)), StoreError)
  assert.deepEqual(outcomes, ['failed', 'failed', 'failed', 'unknown'])
})

test('the server retries an update until it succeeds, but returns a conflict if the client specified a resourceVersion', async () => {
  const key = keyOf(maps, 'default', 'rule')
  // Before this write, another server writes the same object.
  const others = (times: number) => ({
    ...plain,
    admission: {
      ...admitAll,
      validate: async () => {
        if (times-- <= 0) return
        const { revision, value } = (await store.get(key))!
        await store.commit({ key, expected: revision, value })
      },
    },
  })
  const changed = (data: string, isExactVersion: boolean) => (previous: ApiObject) => ({
    object: { ...previous, data: { value: data } } as unknown as ApiObject,
    managed: false,
    isExactVersion,
  })
  await updateObject(others(5), 'rule', changed('after five', false))
  assert.match(maps.cache.get(key)!.json.toString(), /after five/)
  await assert.rejects(updateObject(others(5), 'rule', changed('never', true)), { code: 409 })
  assert.match(maps.cache.get(key)!.json.toString(), /after five/)
})
