/**
 * Tests caches that are added while the feed is running. Each cache contains everything that was written before, during
 * and after its list exactly once, even if the list is ahead of the feed or the feed is interrupted.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { jsonEvents } from '../../../src/storage/cache/event.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import {
  type Batch,
  type ListRange,
  RevisionGone,
  type Snapshot,
  type WatchOptions,
} from '../../../src/storage/store/store.ts'
import { assertBrief } from '../../support/effort.ts'

const prefix = 'objects/core/widgets/'

/** A store whose feed and lists of widgets can be delayed, and whose feed can be interrupted. */
class HeldStore extends MemoryStore {
  holdList: Promise<void> | undefined
  holdFeed: Promise<void> | undefined
  lists = 0
  loseFeed: (() => void) | undefined

  override async list(range: ListRange): Promise<Snapshot> {
    const snapshot = await super.list(range)
    if (range.prefix !== prefix) return snapshot
    this.lists++
    // The list was read before the delay started, so it does not contain later writes.
    await this.holdList
    return snapshot
  }

  override async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    const lost = new Promise<never>((_, reject) => {
      this.loseFeed = () => reject(new RevisionGone(1, 2))
    })
    lost.catch(() => {})
    const batches = super.watch(options)[Symbol.asyncIterator]()
    for (;;) {
      const next = await Promise.race([batches.next(), lost])
      if (next.done) return
      await this.holdFeed
      yield next.value
    }
  }
}

function storedValue(key: string, i: number): Buffer {
  const name = key.slice(key.lastIndexOf('/') + 1)
  const metadata = { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' }
  const object = { apiVersion: 'v1', kind: 'Widget', metadata, i } as unknown as ApiObject
  return encodeStored(key, { object, order: undefined, header: {} })
}

async function put(store: MemoryStore, name: string, i: number): Promise<void> {
  const key = `${prefix}${name}`
  const expected = (await store.get(key))?.revision ?? 0
  await store.commit({ key, expected, value: storedValue(key, i) })
}

async function remove(store: MemoryStore, name: string): Promise<void> {
  const key = `${prefix}${name}`
  await store.commit({ key, expected: (await store.get(key))!.revision, value: undefined })
}

async function start(t: TestContext): Promise<{ store: HeldStore; caches: Caches }> {
  const store = new HeldStore()
  const caches = new Caches(store, { onError: () => {}, onUnreadable: ({ key }) => assert.fail(key) })
  caches.add('core', 'others')
  await caches.start()
  t.after(async () => {
    await caches.stop()
    await store.close()
  })
  return { store, caches }
}

/** Formats the objects as `name=i`. */
function contents(cache: ReturnType<Caches['add']>): string[] {
  return [...cache.slices({ namespace: undefined })]
    .flat()
    .map(({ name, json }) => `${name}=${JSON.parse(String(json)).i}`)
}

async function atPresent(caches: Caches, store: MemoryStore): Promise<void> {
  assert.ok(await caches.reached(await store.revision(), 5000))
}

test('a cache created late contains every write during its list exactly once, and reports the write once to later watches', async (t) => {
  const { store, caches } = await start(t)
  await put(store, 'kept', 1)
  await put(store, 'changed', 1)
  await put(store, 'gone', 1)
  const hold = Promise.withResolvers<void>()
  store.holdList = hold.promise
  const cache = caches.add('core', 'widgets')
  const filled = caches.fill(cache)
  await put(store, 'changed', 2)
  await remove(store, 'gone')
  await put(store, 'new', 1)
  await put(store, 'brief', 1)
  await remove(store, 'brief')
  await atPresent(caches, store)
  hold.resolve()
  await filled
  assert.deepEqual(contents(cache), ['changed=2', 'kept=1', 'new=1'])

  const watcher = cache.watch({ namespace: undefined, name: undefined, matches: undefined }, jsonEvents)
  watcher.begin(caches.revision)
  await put(store, 'new', 2)
  await remove(store, 'kept')
  await atPresent(caches, store)
  const deliveredEvents = watcher.take(1e6).map((bytes) => JSON.parse(String(bytes)))
  assert.deepEqual(
    deliveredEvents.map(({ type, object }) => [type, object.metadata.name]),
    [
      ['MODIFIED', 'new'],
      ['DELETED', 'kept'],
    ],
  )
  assert.deepEqual(contents(cache), ['changed=2', 'new=2'])
})

test('a list that is newer than the change feed waits for the feed, and earlier changes are not applied again', async (t) => {
  const { store, caches } = await start(t)
  const hold = Promise.withResolvers<void>()
  store.holdFeed = hold.promise
  await put(store, 'a', 1)
  await put(store, 'a', 2)
  const cache = caches.add('core', 'widgets')
  let isFilled = false
  const filled = caches.fill(cache).then(() => {
    isFilled = true
  })
  while (store.lists === 0) await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.equal(isFilled, false, 'the feed has not come to the revision of the list')
  hold.resolve()
  await filled
  assert.deepEqual(contents(cache), ['a=2'])
  assert.deepEqual(cache.eventsAfter(cache.floor, 10), [])
})

test('a cache created late lists again if the change feed is interrupted during its list', async (t) => {
  const { store, caches } = await start(t)
  await put(store, 'a', 1)
  const hold = Promise.withResolvers<void>()
  store.holdList = hold.promise
  const cache = caches.add('core', 'widgets')
  const filled = caches.fill(cache)
  store.loseFeed!()
  await put(store, 'a', 2)
  await put(store, 'b', 1)
  const before = caches.revision
  while (caches.revision === before || caches.fault !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 5))
  hold.resolve()
  await filled
  assert.deepEqual(contents(cache), ['a=2', 'b=1'])
})

test('removing a cache ends its watches, and adding a cache for the same kind creates a new one', async (t) => {
  const { store, caches } = await start(t)
  const cache = caches.add('core', 'widgets')
  await caches.fill(cache)
  assert.equal(caches.add('core', 'widgets'), cache)
  const watcher = cache.watch({ namespace: undefined, name: undefined, matches: undefined }, jsonEvents)
  watcher.begin(caches.revision)
  caches.remove(cache)
  assert.ok(watcher.closed)
  assert.ok(cache.retired)
  await put(store, 'a', 1)
  await atPresent(caches, store)
  assert.deepEqual(contents(cache), [])
  const another = caches.add('core', 'widgets')
  await caches.fill(another)
  assert.notEqual(another, cache)
  assert.deepEqual(contents(another), ['a=1'])
})

test('a late cache applies many changes in slices, so readers do not have to wait for all of them', async (t) => {
  const { store, caches } = await start(t)
  const cache = caches.add('core', 'widgets')
  await caches.fill(cache)
  cache.onChange(() => {
    for (const end = performance.now() + 0.5; performance.now() < end; );
  })
  await assertBrief(25, async () => {
    const hold = Promise.withResolvers<void>()
    store.holdFeed = hold.promise
    await put(store, 'first', 1)
    const first = await store.revision()
    for (let i = 0; i < 100; i++) await put(store, `many-${i}`, i)
    hold.resolve()
    assert.ok(await caches.reached(first, 5000))
    assert.ok(caches.revision < (await store.revision()), 'the first is there before the last')
    await atPresent(caches, store)
  })
})
