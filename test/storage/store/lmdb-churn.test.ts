/**
 * Tests a store that is used as a queue. Keys are added and then deleted in batches while the log is compacted. The
 * store must reuse freed space, so the file must stop growing.
 */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { temporaryDirectory } from './directory.ts'
import { put, remove } from './operations.ts'

const rounds = 60
const perRound = 100
const value = 'x'.repeat(2000)

test('the size of the data file stays bounded while keys are constantly created and deleted', {
  timeout: 300_000,
}, async () => {
  const { directory, removeDirectory } = await temporaryDirectory()
  const store = await LmdbStore.open({ directory })
  try {
    const sizes: number[] = []
    for (let round = 0; round < rounds; round++) {
      await churn(store, round)
      sizes.push((await stat(join(directory, 'data.mdb'))).size)
    }
    // The test writes 24 MB in total, including the log. After the first rounds, the file has reached the size that a
    // single round needs.
    assert.equal(Math.max(...sizes.slice(rounds / 2)), Math.max(...sizes.slice(0, rounds / 2)))
    assert.ok(sizes.at(-1)! < 12 * 1024 * 1024, `the file has ${sizes.at(-1)} bytes`)
    assert.equal((await store.list({ prefix: '' })).entries.length, 0)
  } finally {
    await store.close()
    await removeDirectory()
  }
})

/** Adds a round's keys and deletes them in batches, with concurrent compaction. */
async function churn(store: LmdbStore, round: number): Promise<void> {
  const keys = Array.from({ length: perRound }, (_, i) => `queue/${round}/${i}`)
  const revisions = await Promise.all(keys.map((key) => put(store, key, value, 0)))
  const compacted = store.compact(await store.revision())
  for (let i = 0; i < perRound; i += 25) {
    await Promise.all(keys.slice(i, i + 25).map((key, j) => remove(store, key, revisions[i + j]!)))
  }
  await compacted
}
