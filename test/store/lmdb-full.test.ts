/**
 * A store without room left on its device, a small tmpfs: what adds data is refused, each commit by itself; deletes go
 * on, whatever comes beside them; and a server on it can be started again.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { LmdbStore } from '../../src/store/lmdb/store.ts'
import { type Revision, StoreFull } from '../../src/store/store.ts'

function smallDevice(t: TestContext, megabytes: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-full-'))
  const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'orch-test', directory]
  const mounted = spawnSync('mount', args, { encoding: 'utf8' })
  t.after(() => {
    spawnSync('umount', [directory])
    rmSync(directory, { recursive: true, force: true })
  })
  assert.equal(mounted.status, 0, `this test needs to mount a small tmpfs (root): ${mounted.stderr}`)
  return directory
}

async function withStore(directory: string, run: (store: LmdbStore) => Promise<void>): Promise<void> {
  const store = await LmdbStore.open({ directory })
  try {
    await run(store)
  } finally {
    await store.close()
  }
}

/** Writes values until one is refused; gives what was written. */
async function fill(store: LmdbStore, bytes: number): Promise<Map<string, Revision>> {
  const written = new Map<string, Revision>()
  for (;;) {
    const key = `k/${String(written.size).padStart(6, '0')}`
    const value = Buffer.alloc(bytes, key)
    try {
      const result = await store.commit({ key, expected: 0, value })
      assert.ok(result.outcome === 'committed')
      written.set(key, result.revision)
    } catch (error) {
      assert.ok(error instanceof StoreFull, String(error))
      return written
    }
  }
}

for (const bytes of [300, 3000, 300_000])
  test(`deletes go on beside creates that are refused, with values of ${bytes} bytes, until all is deleted`, (t) =>
    withStore(join(smallDevice(t, 4), 'data'), async (store) => {
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

test('deletes go on one by one, until all is deleted', (t) =>
  withStore(join(smallDevice(t, 4), 'data'), async (store) => {
    for (const [key, expected] of await fill(store, 2000))
      assert.equal((await store.commit({ key, expected, value: undefined })).outcome, 'committed')
    assert.equal((await store.list({ prefix: 'k/' })).entries.length, 0)
  }))
