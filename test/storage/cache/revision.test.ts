/** Tests that the content of a cache and its revision change together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { Caches } from '../../../src/storage/cache/caches.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'

test('a change becomes visible in the cache only together with its revision', async (t) => {
  const store = new MemoryStore()
  const caches = new Caches(store, { onError: assert.fail, onUnreadable: ({ key }) => assert.fail(key) })
  const cache = caches.add('core', 'widgets')
  await caches.start()
  t.after(async () => {
    await caches.stop()
    await store.close()
  })
  const put = async (name: string) => {
    const key = `objects/core/widgets/${name}`
    const metadata = { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' }
    const object = { apiVersion: 'v1', kind: 'Widget', metadata } as unknown as ApiObject
    const value = encodeStored(key, { object, order: undefined, header: {} })
    await store.commit({ key, expected: 0, value })
  }
  const newest = () =>
    Math.max(0, ...[...cache.slices({ namespace: undefined })].flat().map(({ revision }) => revision))
  for (let i = 0; i < 3; i++) {
    const written = Promise.all([put(`a${i}`), put(`b${i}`)])
    // Checks the cache between all steps of other tasks.
    for (let looks = 0; looks < 500; looks++) {
      assert.ok(newest() <= caches.revision, `${newest()} is held at ${caches.revision}`)
      await undefined
    }
    await written
    assert.ok(await caches.reached(await store.revision(), 5_000))
  }
  assert.equal(newest(), caches.revision)
})
