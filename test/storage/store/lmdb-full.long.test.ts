/**
 * Tests a store on a full device, which is a small tmpfs. Writes that add data are rejected individually, deletes
 * succeed regardless of the other writes in the batch, and a server with such a store can be restarted. The smallest
 * values take the longest, so they get the smallest device unless ORCH_LONG is 1.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type LmdbOptions, LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { type Revision, RevisionGone, StoreFull } from '../../../src/storage/store/store.ts'
import { long } from '../../support/long.ts'
import { mountSmallDevice } from '../../support/small-device.ts'
import { Follower } from './follower.ts'
import { HandClock } from './hand-clock.ts'

function smallDevice(t: TestContext, megabytes: number): string {
  const { directory, unmount } = mountSmallDevice(megabytes)
  t.after(unmount)
  return directory
}

async function withStore(
  directory: string,
  run: (store: LmdbStore) => Promise<void>,
  options: Partial<LmdbOptions> = {},
): Promise<void> {
  const store = await LmdbStore.open({ ...options, directory })
  try {
    await run(store)
  } finally {
    await store.close()
  }
}

/** Writes values until a write is rejected. Returns the written keys. */
async function fill(
  store: LmdbStore,
  bytes: number,
  options: { lifetimeSeconds?: number } = {},
  prefix = 'k/',
): Promise<Map<string, Revision>> {
  const written = new Map<string, Revision>()
  let isFull = false
  const write = async (i: number) => {
    const key = `${prefix}${String(i).padStart(6, '0')}`
    const value = Buffer.alloc(bytes, key)
    try {
      const result = await store.commit({ key, expected: 0, value, ...options })
      assert.ok(result.outcome === 'committed')
      written.set(key, result.revision)
    } catch (error) {
      assert.ok(error instanceof StoreFull, String(error))
      isFull = true
    }
  }
  // Write many small values in one transaction, because each transaction costs the same.
  const atOnce = bytes < 5000 ? 50 : 1
  for (let i = 0; !isFull; i += atOnce) await Promise.all(Array.from({ length: atOnce }, (_, j) => write(i + j)))
  return written
}

const smallestMegabytes = long ? 4 : 2

for (const [bytes, megabytes] of [
  [300, smallestMegabytes],
  [3000, 4],
  [300_000, 4],
] as const)
  test(`on a full disk with values of ${bytes} bytes, creates are rejected and deletes succeed`, (t) =>
    withStore(join(smallDevice(t, megabytes), 'data'), async (store) => {
      const written = await fill(store, bytes)
      assert.ok(written.size > 5)
      let refused = 0
      const tasks = [...written].flatMap(([key, expected], i) => [
        store.commit({ key, expected, value: undefined }).then(({ outcome }) => assert.equal(outcome, 'committed')),
        store.commit({ key: `new/${i}`, expected: 0, value: Buffer.alloc(bytes) }).catch((error: unknown) => {
          assert.ok(error instanceof StoreFull)
          refused++
        }),
      ])
      await Promise.all(tasks)
      assert.ok(refused > 0)
      assert.equal((await store.list({ prefix: 'k/' })).entries.length, 0)
    }))

test('single deletes succeed on a full disk until everything is deleted', (t) =>
  withStore(join(smallDevice(t, 4), 'data'), async (store) => {
    for (const [key, expected] of await fill(store, 2000))
      assert.equal((await store.commit({ key, expected, value: undefined })).outcome, 'committed')
    assert.equal((await store.list({ prefix: 'k/' })).entries.length, 0)
  }))

test('freed space is available immediately, and the store reports if it dropped old revisions to free the space', async (t) => {
  const messages: string[] = []
  const capacity: string[] = []
  const options = { onWarning: (text: string) => messages.push(text), onCapacity: (now: string) => capacity.push(now) }
  await withStore(
    join(smallDevice(t, 8), 'data'),
    async (store) => {
      const first = store.revision()
      const written = [...(await fill(store, 100_000))]
      assert.deepEqual(capacity, ['full'])
      for (const [key, expected] of written.slice(0, 10)) await store.commit({ key, expected, value: undefined })
      assert.deepEqual(capacity, ['full'])
      for (let i = 0; i < 5; i++) {
        const value = Buffer.alloc(100_000)
        assert.equal((await store.commit({ key: `new/${i}`, expected: 0, value })).outcome, 'committed')
      }
      assert.deepEqual(capacity, ['full', 'roomy'])
      assert.equal(messages.length, 1)
      assert.match(messages[0]!, /the disk is full: old object revisions were deleted/)
      await assert.rejects(store.list({ prefix: '', revision: first }), RevisionGone)
    },
    options,
  )
})

test('if old revisions are dropped during a list, the list is either exact or fails with an expired-revision error', (t) =>
  withStore(join(smallDevice(t, 8), 'data'), async (store) => {
    const written = [...(await fill(store, 20_000))]
    const at = store.revision()
    const old = store.list({ prefix: 'k/', revision: at }).then(
      ({ entries }) => entries.length,
      (error: unknown) => error,
    )
    const now = store.list({ prefix: 'k/' })
    const deleted = written.slice(written.length / 2)
    await Promise.all(deleted.map(([key, expected]) => store.commit({ key, expected, value: undefined })))
    const found = await old
    assert.ok(found === written.length || found instanceof RevisionGone, String(found))
    const { revision, entries } = await now
    assert.equal(entries.length, written.length - (revision - at))
  }))

test('keys expire even on a full disk, and their expiry frees space', async (t) => {
  const clock = new HandClock()
  const failures: Error[] = []
  await withStore(
    join(smallDevice(t, 8), 'data'),
    async (store) => {
      const written = await fill(store, 100_000, { lifetimeSeconds: 10 })
      await using gone = new Follower(store, store.revision())
      clock.moveTo(20_000)
      await gone.until((changes) => changes.length >= written.size)
      assert.ok(gone.changes.every(({ value }) => value === undefined))
      assert.equal((await store.list({ prefix: 'k/' })).entries.length, 0)
      assert.equal(
        (await store.commit({ key: 'new', expected: 0, value: Buffer.alloc(1_000_000) })).outcome,
        'committed',
      )
    },
    { clock, onUpkeepError: (error) => failures.push(error) },
  )
  assert.deepEqual(failures, [])
})

test('a delete that releases reservations succeeds on a full disk', (t) =>
  withStore(join(smallDevice(t, 8), 'data'), async (store) => {
    const keys = Array.from({ length: 100 }, (_, i) => `claims/${i}`)
    const takes = keys.map((key) => ({ key, value: Buffer.from('holder') }))
    const result = await store.commit({ key: 'holder', expected: 0, value: Buffer.alloc(500_000), reserves: takes })
    assert.ok(result.outcome === 'committed')
    await fill(store, 100_000)
    await fill(store, 100, {}, 'small/')
    const ended = await store.commit({ key: 'holder', expected: result.revision, value: undefined, releases: keys })
    assert.equal(ended.outcome, 'committed')
    assert.equal((await store.list({ prefix: 'claims/' })).entries.length, 0)
  }))
