/**
 * Tests that unchanged objects are stored once for all workers, that replaced objects leave their block, and that a
 * worker never adopts different bytes.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { BroadcastChannel } from 'node:worker_threads'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import type { CachedObject } from '../../../src/storage/cache/cached-object.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import type { KindCache } from '../../../src/storage/cache/kind-cache.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { untilTrue } from '../../support/until.ts'

const prefix = 'objects/core/widgets/'

async function put(store: MemoryStore, name: string, text: string): Promise<void> {
  const key = `${prefix}${name}`
  const metadata = { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' }
  const object = { apiVersion: 'v1', kind: 'Widget', metadata, text } as unknown as ApiObject
  const value = encodeStored(key, { object, order: undefined, header: {} })
  await store.commit({ key, expected: (await store.get(key))?.revision ?? 0, value })
}

async function remove(store: MemoryStore, name: string): Promise<void> {
  const key = `${prefix}${name}`
  await store.commit({ key, expected: (await store.get(key))!.revision, value: undefined })
}

/** Workers that all run in this thread. */
class Workers {
  readonly store = new MemoryStore()
  readonly channel = randomUUID()
  readonly #started: Caches[] = []

  constructor(t: TestContext) {
    t.after(async () => {
      await Promise.all(this.#started.map((caches) => caches.stop()))
      await this.store.close()
    })
  }

  async start(index = this.#started.length): Promise<{ cache: KindCache; caches: Caches }> {
    const listeners = { onError: assert.fail, onUnreadable: ({ key }: { key: string }) => assert.fail(key) }
    const caches = new Caches(this.store, listeners, { sharing: { channel: this.channel, index, restMs: 10 } })
    const cache = caches.add('core', 'widgets')
    this.#started.push(caches)
    await caches.start()
    return { cache, caches }
  }
}

function textOf({ json }: CachedObject): string {
  return JSON.parse(String(json)).text
}

/** Whether both objects share the same memory, rather than merely having equal bytes. */
function areOne(one: CachedObject | undefined, other: CachedObject | undefined): boolean {
  if (one === undefined || other === undefined || one === other) return false
  if (!(one.json.buffer instanceof SharedArrayBuffer) || !(other.json.buffer instanceof SharedArrayBuffer)) return false
  const before = one.json[0]!
  one.json[0] = before ^ 1
  const seen = other.json[0] === one.json[0]
  one.json[0] = before
  return seen
}

test('unchanged objects share memory, regardless of how and when they were loaded', async (t) => {
  const workers = new Workers(t)
  await put(workers.store, 'old', 'there before')
  const { cache: first } = await workers.start()
  const { cache: second } = await workers.start()
  await put(workers.store, 'new', 'came later')
  const names = ['old', 'new'].map((name) => `${prefix}${name}`)
  await untilTrue(async () => names.every((key) => areOne(first.get(key), second.get(key))))
  const { cache: third } = await workers.start()
  await untilTrue(async () => names.every((key) => areOne(first.get(key), third.get(key))))
  for (const cache of [first, second, third])
    assert.deepEqual([...cache.all()].map(textOf), ['came later', 'there before'])
})

test('replaced and deleted objects leave their shared block, and the new objects share memory again', async (t) => {
  const workers = new Workers(t)
  const { cache: first } = await workers.start()
  const { cache: second, caches } = await workers.start()
  for (const name of ['a', 'b']) await put(workers.store, name, 'one')
  const a = `${prefix}a`
  const b = `${prefix}b`
  await untilTrue(async () => areOne(first.get(a), second.get(a)) && areOne(first.get(b), second.get(b)))
  const past = [second.get(a)!, second.get(b)!]
  await put(workers.store, 'a', 'two')
  await remove(workers.store, 'b')
  assert.ok(await caches.reached(await workers.store.revision(), 5000))
  for (const object of past) {
    assert.ok(!(object.json.buffer instanceof SharedArrayBuffer))
    assert.equal(textOf(object), 'one')
  }
  assert.deepEqual([...second.all()].map(textOf), ['two'])
  await untilTrue(async () => areOne(first.get(a), second.get(a)))
  assert.deepEqual([...first.all(), ...second.all()].map(textOf), ['two', 'two'])
})

test('a shared block that is mostly unused is released', async (t) => {
  const workers = new Workers(t)
  const { cache: first } = await workers.start()
  const { cache: second } = await workers.start()
  const names = Array.from({ length: 30 }, (_, i) => `n${i}`)
  const blocks = () => new Set([...first.all()].map(({ json }) => json.buffer))
  for (const name of names) await put(workers.store, name, name.padEnd(50_000))
  await untilTrue(async () => [...second.all()].every(({ key }) => areOne(first.get(key), second.get(key))))
  const before = blocks()
  assert.ok(before.size >= 6)
  // Keeps one object in each block except the last.
  const left = new Set([...before].map((block) => [...first.all()].find(({ json }) => json.buffer === block)!.name))
  for (const name of names) if (!left.has(name)) await remove(workers.store, name)
  await untilTrue(async () => first.size === left.size && blocks().size < before.size / 2)
  await untilTrue(async () => [...second.all()].every(({ key }) => areOne(first.get(key), second.get(key))))
  assert.deepEqual(new Set([...second.all()].map((object) => textOf(object).trim())), left)
})

test('bytes that differ or belong to another revision do not share memory', async (t) => {
  const workers = new Workers(t)
  const { cache } = await workers.start(1)
  await put(workers.store, 'a', 'mine')
  const key = `${prefix}a`
  await untilTrue(async () => cache.get(key) !== undefined)
  const { json, revision } = cache.get(key)!
  const other = new BroadcastChannel(workers.channel)
  t.after(() => other.close())
  const tell = (bytes: Buffer, at: number) => {
    const block = new SharedArrayBuffer(bytes.length)
    bytes.copy(new Uint8Array(block))
    other.postMessage({ type: 'told', block, keys: [key], places: Float64Array.of(at, 0, bytes.length) })
  }
  tell(Buffer.from(String(json).replace('mine', 'your')), revision)
  tell(Buffer.from(String(json)), revision - 1)
  // Messages are processed in order. When this message has been processed, all earlier messages have also been
  // processed.
  tell(json, revision)
  await untilTrue(async () => cache.get(key)!.json.buffer instanceof SharedArrayBuffer)
  assert.equal(textOf(cache.get(key)!), 'mine')
})
