/**
 * Tests a cache of many objects that is loaded after the server has started. Until loading has finished, the cache
 * returns objects that were fetched or changed, and never reports an unknown object as absent.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import type { Entry, ListRange, Snapshot } from '../../../src/storage/store/store.ts'

const prefix = 'objects/core/widgets/'
const objects = 2_500

/** A store in which reads of single objects can be delayed. */
class HeldStore extends MemoryStore {
  holdGet: Promise<void> | undefined
  listedKeys = 0

  override async get(key: string): Promise<Entry | undefined> {
    const entry = await super.get(key)
    await this.holdGet
    return entry
  }

  override async list(range: ListRange): Promise<Snapshot> {
    const snapshot = await super.list(range)
    this.listedKeys += snapshot.entries.length
    return snapshot
  }
}

function storedValue(key: string, i: number): Buffer {
  const name = key.slice(key.lastIndexOf('/') + 1)
  const metadata = { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' }
  const object = { apiVersion: 'v1', kind: 'Widget', metadata, i } as unknown as ApiObject
  return encodeStored(key, { object, order: undefined, header: {} })
}

const keyOf = (i: number) => `${prefix}w${String(i).padStart(4, '0')}`

async function write(store: MemoryStore, i: number, value: number | undefined): Promise<number> {
  const key = keyOf(i)
  const expected = (await store.get(key))?.revision ?? 0
  const result = await store.commit({ key, expected, value: value === undefined ? undefined : storedValue(key, value) })
  assert.ok(result.outcome === 'committed')
  return result.revision
}

async function started(t: TestContext) {
  const store = new HeldStore()
  for (let i = 0; i < objects; i++) await write(store, i, 0)
  const other = 'objects/zoo/lions/leo'
  await store.commit({ key: other, expected: 0, value: storedValue(other, 0) })
  const listeners = { onError: assert.ifError, onUnreadable: () => assert.fail() }
  const caches = new Caches(store, listeners, { mayLoadLater: (kind) => kind === prefix })
  const widgets = caches.add('core', 'widgets')
  const lions = caches.add('zoo', 'lions')
  await caches.start()
  t.after(() => caches.stop())
  return { store, caches, widgets, lions }
}

const unknown = { code: 503 }
const numberIn = (json: Uint8Array) => JSON.parse(Buffer.from(json).toString()).i

test('at startup, the cache reads one page of objects of a large kind and all objects of other kinds', async (t) => {
  const { store, widgets, lions } = await started(t)
  assert.ok(widgets.isLoading && !lions.isLoading)
  assert.equal([...lions.all()].length, 1)
  assert.ok(store.listedKeys < objects, `${store.listedKeys} keys`)
})

test('a cache that has not loaded yet rejects reads of unknown objects', async (t) => {
  const { widgets } = await started(t)
  assert.throws(() => widgets.get(keyOf(7)), unknown)
  assert.throws(() => widgets.page(undefined), unknown)
  assert.throws(() => [...widgets.all()], unknown)
  assert.throws(() => widgets.slices({ namespace: undefined }), unknown)
})

test('an object that is fetched into a partly loaded cache is returned, and later changes are applied to it', async (t) => {
  const { store, caches, widgets } = await started(t)
  await caches.fetch(widgets, keyOf(7))
  assert.equal(numberIn(widgets.get(keyOf(7))!.json), 0)
  await caches.reached(await write(store, 7, 1), 10_000)
  assert.equal(numberIn(widgets.get(keyOf(7))!.json), 1)
  await caches.reached(await write(store, 7, undefined), 10_000)
  assert.equal(widgets.get(keyOf(7)), undefined)
  await caches.fetch(widgets, `${prefix}none`)
  assert.equal(widgets.get(`${prefix}none`), undefined)
})

test('if an object changes while the cache fetches it, the fetch does not restore the old state', async (t) => {
  const { store, caches, widgets } = await started(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  store.holdGet = promise
  const fetched = [caches.fetch(widgets, keyOf(7)), caches.fetch(widgets, keyOf(8))]
  store.holdGet = undefined
  await write(store, 7, 1)
  await caches.reached(await write(store, 8, undefined), 10_000)
  resolve()
  await Promise.all(fetched)
  assert.equal(numberIn(widgets.get(keyOf(7))!.json), 1)
  assert.equal(widgets.get(keyOf(8)), undefined)
})

test('the loaded cache contains every object once, including changes made during loading', async (t) => {
  const { store, caches, widgets } = await started(t)
  await caches.fetch(widgets, keyOf(1))
  await write(store, 1, 1)
  await write(store, 2, undefined)
  caches.loadRest()
  await write(store, 3, 3)
  await write(store, objects, 4)
  await widgets.whenLoaded()
  await caches.reached(await store.revision(), 10_000)
  const found = new Map([...widgets.all()].map(({ key, json }) => [key, numberIn(json)]))
  assert.equal(found.size, objects)
  assert.deepEqual(
    [1, 2, 3, 4, objects].map((i) => found.get(keyOf(i))),
    [1, undefined, 3, 0, 4],
  )
  assert.equal(widgets.get(`${prefix}none`), undefined)
})

test('a name that is too long for the store is reported as not found, and the cache stores only a limited number of absent names', async (t) => {
  const { caches, widgets } = await started(t)
  const long = `${prefix}${'n'.repeat(100_000)}`
  await caches.fetch(widgets, long)
  assert.equal(widgets.get(long), undefined)
  const absent = Array.from({ length: 12_000 }, (_, i) => `${prefix}none-${i}`)
  for (const key of absent) await caches.fetch(widgets, key)
  const remembered = absent.filter((key) => widgets.knows(key))
  assert.ok(remembered.length > 0 && remembered.length <= 10_000, `${remembered.length}`)
  assert.equal(widgets.get(absent.at(-1)!), undefined)
})
