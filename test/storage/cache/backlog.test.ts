/**
 * Tests watches that resume from before the start of the server. They must report all events in order, and the store's
 * log must be read once for all of them. The tests count the changes that are read from the store rather than measuring
 * time.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { podTemplate } from '../../../src/api/kinds/core/pod-template.ts'
import { secret } from '../../../src/api/kinds/core/secret.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { defaultGates } from '../../../src/api/versions/feature-gates.ts'
import { type Resource, serveKinds } from '../../../src/apiserver/registry/catalogue/resource.ts'
import { ContinueTokens } from '../../../src/apiserver/registry/reads/continue-token.ts'
import { HistoryReaders } from '../../../src/apiserver/registry/reads/history-readers.ts'
import { parseSelection } from '../../../src/apiserver/registry/reads/selection.ts'
import { watch } from '../../../src/apiserver/registry/verbs/watch.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { jsonEvents } from '../../../src/storage/cache/event.ts'
import type { HistoryTime } from '../../../src/storage/cache/revision-times.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import type { Batch, WatchOptions } from '../../../src/storage/store/store.ts'

/** Counts the changes that are read from the log. */
class CountingStore extends MemoryStore {
  told = 0

  override async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    for await (const batch of super.watch(options)) {
      if (options.until !== undefined) this.told += batch.changes.length
      yield batch
    }
  }
}

function storedValue(key: string, kind: string, i: number): Buffer {
  const name = key.slice(key.lastIndexOf('/') + 1)
  const metadata = { name, namespace: 'a', uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' }
  const object = { apiVersion: 'v1', kind, metadata, data: { i: String(i) } } as unknown as ApiObject
  return encodeStored(key, { object, order: undefined, header: {} })
}

async function put(store: MemoryStore, [plural, kind]: readonly [string, string], name: string, i: number) {
  const key = `objects/core/${plural}/a/${name}`
  const expected = (await store.get(key))?.revision ?? 0
  await store.commit({ key, expected, value: storedValue(key, kind, i) })
}

async function remove(store: MemoryStore, plural: string, name: string): Promise<void> {
  const key = `objects/core/${plural}/a/${name}`
  await store.commit({ key, expected: (await store.get(key))!.revision, value: undefined })
}

const configMaps = ['configmaps', 'ConfigMap'] as const
const secrets = ['secrets', 'Secret'] as const
const podTemplates = ['podtemplates', 'PodTemplate'] as const

/** Starts a registry on the existing content of the store, as a restarted server does. */
async function start(t: TestContext, store: MemoryStore, kept?: HistoryTime): Promise<Resource[]> {
  const listeners = {
    onError: (error: unknown) => assert.fail(String(error)),
    onUnreadable: ({ key }: { readonly key: string }) => assert.fail(key),
  }
  const caches = new Caches(store, listeners, { eventRetention: kept })
  const resources = serveKinds([configMap, secret, podTemplate], {
    vendor: vendorOf('orch'),
    store,
    caches,
    clock: systemClock,
    continueTokens: new ContinueTokens(Buffer.alloc(32)),
    historyReaders: new HistoryReaders(),
    gates: defaultGates(),
    lifetimeSeconds: 3600,
    pools: [],
  })
  await caches.start()
  t.after(async () => {
    await caches.stop()
    await store.close()
  })
  return resources as Resource[]
}

/** Returns the events that a watch after this revision reports before it has caught up. */
async function resume(resource: Resource, revision: number): Promise<string[]> {
  const query = { namespace: undefined, name: undefined, labelSelector: '', fieldSelector: '' }
  const selection = parseSelection(resource, query)
  const { watcher, before } = await watch(resource, {
    selection,
    resourceVersion: String(revision),
    form: jsonEvents,
    user: 'someone',
    onSent: () => {},
  })
  let text = ''
  for await (const chunk of before(() => Buffer.allocUnsafe(64 * 1024))) text += chunk.toString()
  assert.equal(watcher.closed, false)
  watcher.close()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ type, object }) => `${type} ${object.metadata.name} ${object.data.i}`)
}

async function resumeAll(resources: readonly Resource[], revision: number, count: number): Promise<string[][][]> {
  return await Promise.all(
    resources.map((resource) => Promise.all(Array.from({ length: count }, () => resume(resource, revision)))),
  )
}

test('after a restart, all resumed watches share one read of the log', async (t) => {
  const store = new CountingStore()
  for (const kind of [configMaps, secrets, podTemplates]) await put(store, kind, 'first', 0)
  const known = await store.revision()
  const changes = 1000
  for (let i = 1; i <= changes; i++) await put(store, configMaps, 'first', i)
  await remove(store, 'secrets', 'first')
  const resources = await start(t, store)
  const told = await resumeAll(resources, known, 50)
  const expected = [Array.from({ length: changes }, (_, i) => `MODIFIED first ${i + 1}`), ['DELETED first 0'], []]
  for (const [i, watches] of told.entries()) for (const each of watches) assert.deepEqual(each, expected[i])
  assert.ok(store.told <= changes + 1, `${store.told} changes were read for ${changes + 1}`)

  await t.test('watches that resume later do not read the log again', async () => {
    const before = store.told
    assert.deepEqual(
      (await resumeAll(resources, known, 3)).map(([first]) => first),
      expected,
    )
    assert.deepEqual((await resumeAll(resources, known + 990, 1))[0]![0], expected[0]!.slice(990))
    assert.equal(store.told, before)
  })

  await t.test('a resumed watch continues with new events after the replay', async () => {
    await put(store, configMaps, 'second', 7)
    await resources[0]!.caches.reached(await store.revision(), 5000)
    assert.deepEqual(await resume(resources[0]!, known), [...expected[0]!, 'ADDED second 7'])
  })

  await t.test('a kind without changes is listed from the cache even at an old resourceVersion', () => {
    assert.ok(resources[2]!.cache.changedAt <= known, `changed at ${resources[2]!.cache.changedAt}`)
    assert.ok(resources[1]!.cache.changedAt > known)
  })
})

test('resumed watches report all events even if these exceed the event buffers, and share about one read of the log', async (t) => {
  const store = new CountingStore()
  for (const kind of [configMaps, secrets, podTemplates]) await put(store, kind, 'first', 0)
  const known = await store.revision()
  const changes = 6000
  for (let i = 1; i <= changes; i++) await put(store, configMaps, `name-${i % 10}`, i)
  const resources = await start(t, store)
  const expected = Array.from(
    { length: changes },
    (_, i) => `${i < 10 ? 'ADDED' : 'MODIFIED'} name-${(i + 1) % 10} ${i + 1}`,
  )
  const [first, ...others] = await resumeAll(resources, known, 20)
  for (const each of first!) assert.deepEqual(each, expected)
  assert.deepEqual(others.flat(2), [])
  assert.ok(store.told <= 3 * changes, `${store.told} changes were read for ${changes}`)
})

test('a watch from a compacted revision does not prevent other watches from resuming', async (t) => {
  const store = new CountingStore()
  for (let i = 0; i < 10; i++) await put(store, configMaps, 'first', i)
  const known = await store.revision()
  await put(store, configMaps, 'first', 10)
  await store.compact(known)
  const resources = await start(t, store)
  const [tooOld, good, tooOldToo] = await Promise.allSettled([
    resume(resources[0]!, known - 5),
    resume(resources[0]!, known),
    resume(resources[1]!, known - 5),
  ])
  assert.deepEqual(good, { status: 'fulfilled', value: ['MODIFIED first 10'] })
  for (const each of [tooOld, tooOldToo]) assert.equal(each.status === 'rejected' && each.reason.code, 410)
})

test('a resumed watch fails if some of its events are older than the retention time', async (t) => {
  const store = new MemoryStore()
  let now = 0
  const [maps, others] = await start(t, store, { historyMs: 1600, clock: { monotonic: () => now } })
  const beginning = await store.revision()
  const write = async (at: number, name: string) => {
    now = at
    await put(store, configMaps, name, at)
    await maps!.caches.reached(await store.revision(), 1000)
  }
  await write(100, 'a')
  await write(200, 'b')
  await store.compact(await store.revision())
  const second = await store.revision()
  await write(1000, 'c')
  assert.deepEqual(await resume(maps!, beginning), ['ADDED a 100', 'ADDED b 200', 'ADDED c 1000'])
  now = 1900
  await assert.rejects(resume(maps!, beginning), /too old resource version/)
  assert.deepEqual(await resume(maps!, second), ['ADDED c 1000'])
  assert.deepEqual(await resume(others!, beginning), [])
})
