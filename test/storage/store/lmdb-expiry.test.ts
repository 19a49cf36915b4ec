/**
 * Tests lifetimes in the embedded store, with a manual clock. Lifetimes continue while the store is closed, many
 * simultaneous expirations are processed in steps with commits in between, and obsolete lifetimes leave no data behind.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { openTables } from '../../../src/storage/store/lmdb/tables.ts'
import { temporaryDirectory } from './directory.ts'
import { Follower } from './follower.ts'
import { HandClock } from './hand-clock.ts'
import { put, putFor, readChanges, remove } from './operations.ts'

const start = 1_700_000_000_000

function clockAt(time: number): HandClock {
  const clock = new HandClock()
  clock.moveTo(time)
  return clock
}

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const { directory, removeDirectory } = await temporaryDirectory()
  try {
    await run(directory)
  } finally {
    await removeDirectory()
  }
}

async function withStore<T>(directory: string, clock: HandClock, run: (store: LmdbStore) => Promise<T>): Promise<T> {
  const store = await LmdbStore.open({ directory, clock, onUpkeepError: (error) => assert.fail(error) })
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

async function lifetimesLeft(directory: string): Promise<number> {
  const { root, expiry } = openTables(directory)
  const count = expiry.getKeysCount()
  await root.close()
  return count
}

describe('key lifetimes in the embedded store', { timeout: 300_000 }, () => {
  test('keys expire on time and never earlier, even if the store is closed in the meantime', () =>
    inDirectory(async (directory) => {
      const last = await withStore(directory, clockAt(start), async (store) => {
        await putFor(store, 10, 'a', '1', 0)
        await putFor(store, 20, 'b', '1', 0)
        return await putFor(store, 30, 'c', '1', 0)
      })
      const clock = clockAt(start + 9_999)
      await withStore(directory, clock, async (store) => {
        clock.moveTo(start + 9_999)
        await put(store, 'mark', '1', 0)
        assert.equal((await store.list({ prefix: '' })).entries.length, 4)
        clock.moveTo(start + 10_000)
        const seen = await readChanges(store, { after: last, count: 2 })
        assert.deepEqual(
          seen.map(({ key, value }) => [key, value === undefined]),
          [
            ['mark', false],
            ['a', true],
          ],
        )
      })
      const later = clockAt(start + 86_400_000)
      await withStore(directory, later, async (store) => {
        const after = await store.revision()
        later.moveTo(later.now())
        const seen = await readChanges(store, { after, count: 2 })
        assert.deepEqual(
          seen.map(({ key }) => key),
          ['b', 'c'],
        )
      })
      assert.equal(await lifetimesLeft(directory), 0)
    }))

  test('keys that expire at the same time are deleted in steps between other commits, each key once', () =>
    inDirectory(async (directory) => {
      const clock = clockAt(start)
      const keys = Array.from({ length: 2500 }, (_, i) => `k/${String(i).padStart(5, '0')}`)
      await withStore(directory, clock, async (store) => {
        const made = await Promise.all(keys.map((key) => putFor(store, 10, key, 'x'.repeat(500), 0)))
        await using follower = new Follower(store, await store.revision())
        clock.moveTo(start + 10_000)
        const writes = keys.slice(0, 50).map((key) => put(store, `other/${key}`, '1', 0))
        const written = await Promise.all(writes)
        await follower.until((changes) => changes.length === keys.length + written.length)
        const gone = follower.changes.filter(({ value }) => value === undefined)
        assert.deepEqual(
          gone.map(({ key, previous }) => [key, previous?.revision]),
          keys.map((key, i) => [key, made[i]]),
        )
        const order = follower.changes.map(({ revision }) => revision)
        assert.deepEqual(
          order,
          [...new Set(order)].sort((a, b) => a - b),
        )
        assert.equal((await store.list({ prefix: '' })).entries.length, written.length)
      })
      assert.equal(await lifetimesLeft(directory), 0)
    }))

  test('values that are larger than the limit of one expiry step also expire', () =>
    inDirectory(async (directory) => {
      const clock = clockAt(start)
      await withStore(directory, clock, async (store) => {
        const large = 'x'.repeat(3_000_000)
        for (const key of ['a', 'b', 'c']) await putFor(store, 1, key, large, 0)
        const after = await store.revision()
        clock.moveTo(start + 1000)
        const seen = await readChanges(store, { after, count: 3 })
        assert.deepEqual(
          seen.map(({ key, previous }) => [key, previous!.value.length]),
          ['a', 'b', 'c'].map((key) => [key, large.length]),
        )
      })
    }))

  test('replacing the expiry of a key leaves no record of the old expiry, and the old expiry does not delete the key', () =>
    inDirectory(async (directory) => {
      const clock = clockAt(start)
      await withStore(directory, clock, async (store) => {
        let revision = await putFor(store, 1, 'often', '0', 0)
        for (let i = 1; i <= 300; i++) revision = await putFor(store, 1, 'often', String(i), revision)
        const stays = await put(store, 'often', 'stays', revision)
        await remove(store, 'gone', await putFor(store, 1, 'gone', '1', 0))
        const last = await putFor(store, 2, 'last', '1', 0)
        clock.moveTo(start + 2000)
        const seen = await readChanges(store, { after: last, count: 1 })
        assert.equal(seen[0]!.key, 'last')
        assert.equal((await store.get('often'))?.revision, stays)
      })
      assert.equal(await lifetimesLeft(directory), 0)
    }))

  test('keys can expire in a data directory from an older program that did not support expiry', () =>
    inDirectory(async (directory) => {
      const clock = clockAt(start)
      const old = await withStore(directory, clock, (store) => put(store, 'old', '1', 0))
      const { root } = openTables(directory)
      await root.openDB('expiry', {}).drop()
      root.resetReadTxn()
      const names = [...root.getKeys()].map((name) => String(name).replace('\0', ''))
      assert.deepEqual(names, ['current', 'history', 'log', 'meta'])
      await root.close()
      await withStore(directory, clock, async (store) => {
        const made = await putFor(store, 1, 'new', '1', 0)
        clock.moveTo(start + 1000)
        const seen = await readChanges(store, { after: made, count: 1 })
        assert.equal(seen[0]!.key, 'new')
        assert.equal((await store.get('old'))?.revision, old)
      })
    }))
})
