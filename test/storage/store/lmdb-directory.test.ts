/**
 * Tests specific to the embedded store: its directory, its format, its time-based history, and clear errors for damage
 * and crashes.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import {
  formatVersion,
  openTables,
  readState,
  revisionKey,
  type Tables,
  write,
  writeState,
} from '../../../src/storage/store/lmdb/tables.ts'
import { RevisionGone, StoreError, ValueTooLarge } from '../../../src/storage/store/store.ts'
import { temporaryDirectory } from './directory.ts'
import { HandClock } from './hand-clock.ts'
import { bytes, put, readChanges } from './operations.ts'

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const { directory, removeDirectory } = await temporaryDirectory()
  try {
    await run(join(directory, 'data'))
  } finally {
    await removeDirectory()
  }
}

async function withStore(directory: string, run: (store: LmdbStore) => Promise<void>): Promise<void> {
  const store = await LmdbStore.open({ directory })
  try {
    await run(store)
  } finally {
    await store.close()
  }
}

/** Waits until the directory can be opened. The kernel takes a moment to terminate a process and release its locks. */
async function opensSoon(directory: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await withStore(directory, async () => {})
      return
    } catch (error) {
      if (attempt === 100) throw error
      await setTimeout(50)
    }
  }
}

async function replaceFile(path: string): Promise<void> {
  await copyFile(path, `${path}.new`)
  await rename(`${path}.new`, path)
}

const owner = fileURLToPath(new URL('./directory-owner.ts', import.meta.url))

const refusal = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StoreError)
  assert.match(error.message, pattern)
  return true
}

describe('the data directory of the embedded store', () => {
  test('only the owner can access the data directory', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async () => {
        const mode = async (path: string) => (await stat(path)).mode & 0o777
        assert.equal(await mode(directory), 0o700)
        assert.equal(await mode(join(directory, 'data.mdb')), 0o600)
        assert.equal(await mode(join(directory, 'lock.mdb')), 0o600)
        assert.equal(await mode(join(directory, 'claim')), 0o600)
      })
    }))

  test('the data directory may have a dot in its name, and the store creates nothing next to the directory', () =>
    inDirectory(async (directory) => {
      const dotted = join(directory, 'orch.d')
      await withStore(dotted, async (store) => void (await put(store, 'a', '1', 0)))
      await withStore(dotted, async (store) => assert.equal((await store.get('a'))?.key, 'a'))
      assert.deepEqual(await readdir(directory), ['orch.d'])
      assert.deepEqual((await readdir(dotted)).sort(), ['claim', 'data.mdb', 'lock.mdb'])
    }))

  test('a data directory can be opened by only one store at a time', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async () => {
        await assert.rejects(LmdbStore.open({ directory }), refusal(/in use by another process/))
      })
      await withStore(directory, async (store) => assert.equal(await store.revision(), 1))
    }))

  test('a data directory is locked across PID namespaces, and unlocked when the owning process exits', (t) =>
    inDirectory(async (directory) => {
      const elsewhere = (seconds: number) => {
        const args = ['--net', '--pid', '--fork', '--kill-child', process.execPath, owner, directory, `${seconds}`]
        const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] })
        t.after(() => child.kill('SIGKILL'))
        return child
      }
      const possible = spawnSync('unshare', ['--net', '--pid', '--fork', 'true'], { encoding: 'utf8' })
      assert.equal(possible.status, 0, `this test needs unshare and the right to use it (root): ${possible.stderr}`)
      await withStore(directory, async () => {
        const [said] = await once(elsewhere(0).stdout, 'data')
        assert.match(String(said), /in use by another process/)
      })
      const child = elsewhere(60)
      const [said] = await once(child.stdout, 'data')
      assert.match(String(said), /has it/)
      await assert.rejects(LmdbStore.open({ directory }), refusal(/in use by another process/))
      child.kill('SIGKILL')
      await once(child, 'exit')
      await opensSoon(directory)
    }))

  test('the store stops within a second if another process writes to its data directory', () =>
    inDirectory(async (directory) => {
      const clock = new HandClock()
      const failed = Promise.withResolvers<StoreError>()
      const store = await LmdbStore.open({ directory, clock, onFailed: failed.resolve })
      await put(store, 'a', '1', 0)
      await inTables(directory, ({ meta }) => writeState(meta, { format: formatVersion, revision: 9, oldest: 1 }))
      clock.moveTo(1000)
      assert.match((await failed.promise).message, /another process has written/)
      await assert.rejects(store.commit({ key: 'b', expected: 0, value: bytes('1') }), StoreError)
      await store.close()
    }))

  for (const [what, away, why] of [
    ['removed', (directory: string) => rm(directory, { recursive: true }), /removed or moved/],
    ['moved', (directory: string) => rename(directory, `${directory}-moved`), /removed or moved/],
    ['given another file', (directory: string) => replaceFile(join(directory, 'data.mdb')), /replaced/],
  ] as const)
    test(`the store stops within a second if its data directory is ${what}`, () =>
      inDirectory(async (directory) => {
        const clock = new HandClock()
        const failed = Promise.withResolvers<StoreError>()
        const store = await LmdbStore.open({ directory, clock, onFailed: failed.resolve })
        await put(store, 'a', '1', 0)
        await away(directory)
        clock.moveTo(1000)
        assert.match((await failed.promise).message, why)
        await assert.rejects(store.commit({ key: 'b', expected: 0, value: bytes('1') }), why)
        await store.close()
      }))

  test('a data directory from a newer program is rejected, and the error names both formats and the version needed', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async (store) => void (await put(store, 'a', '1', 0)))
      const tables = openTables(directory)
      tables.root.transactionSync(() =>
        write(tables.meta, Buffer.from('format'), Buffer.of(0, 0, 0, formatVersion + 1)),
      )
      await tables.root.close()
      await assert.rejects(LmdbStore.open({ directory }), refusal(/format 4.*format 3: use orch 0\.1\.0 or newer/))
    }))

  test('a data directory whose data file is not a database is rejected', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async () => {})
      await writeFile(join(directory, 'data.mdb'), Buffer.alloc(20_000, 'not a database'))
      await assert.rejects(LmdbStore.open({ directory }), refusal(/data file/))
    }))

  test('a truncated data file causes errors, not a crash', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async (store) => {
        await Promise.all(Array.from({ length: 300 }, (_, i) => put(store, `k/${i}`, 'x'.repeat(1000), 0)))
      })
      await truncate(join(directory, 'data.mdb'), 16 * 4096)
      const failed = await LmdbStore.open({ directory }).then(
        async (store) => {
          const answer = await store.list({ prefix: '' }).then(
            () => undefined,
            (error: unknown) => error,
          )
          await store.close()
          return answer
        },
        (error: unknown) => error,
      )
      assert.ok(failed instanceof StoreError)
    }))
})

/** Changes records directly in the file, bypassing the store. */
async function inTables(directory: string, change: (tables: Tables) => void): Promise<void> {
  const tables = openTables(directory)
  tables.root.transactionSync(() => change(tables))
  await tables.root.close()
}

describe('record checksums', () => {
  const key = Buffer.from('b')

  test('a record with a wrong revision is returned without a value and can be deleted', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async (store) => {
        for (const name of ['a', 'b', 'c']) await put(store, name, name, 0)
      })
      await inTables(directory, ({ current }) => {
        const held = Buffer.from(current.get(key)!)
        held[7]! ^= 2
        write(current, key, held)
      })
      await withStore(directory, async (store) => {
        const { entries } = await store.list({ prefix: '' })
        assert.deepEqual(
          entries.map(({ key, value }) => [key, value.length]),
          [
            ['a', 1],
            ['b', 0],
            ['c', 1],
          ],
        )
        const found = await store.get('b')
        assert.equal(found?.value.length, 0)
        assert.equal(
          (await store.commit({ key: 'b', expected: found.revision, value: undefined })).outcome,
          'committed',
        )
      })
    }))

  test('an altered change in the log is reported as damage, and compaction continues', () =>
    inDirectory(async (directory) => {
      await withStore(directory, async (store) => {
        await put(store, 'b', '2', await put(store, 'b', '1', 0))
        await put(store, 'c', '1', 0)
      })
      await inTables(directory, ({ log }) => {
        const record = Buffer.from(log.get(revisionKey(3))!)
        record[11] = 'x'.charCodeAt(0)
        write(log, revisionKey(3), record)
      })
      await withStore(directory, async (store) => {
        await assert.rejects(
          readChanges(store, { after: 1, count: 3 }),
          refusal(/damaged: the checksum of revision 3 does not match/),
        )
        assert.equal((await readChanges(store, { after: 3, count: 1 })).length, 1)
        await store.compact(store.revision())
        assert.equal((await store.list({ prefix: '' })).entries.length, 2)
      })
    }))

  test('a data directory in format 1 without checksums can be opened and read, and is converted to format 3', () =>
    inDirectory(async (directory) => {
      await withStore(
        directory,
        async (store) => void (await put(store, 'a', 'old', await put(store, 'a', 'older', 0))),
      )
      await inTables(directory, unchecked)
      await withStore(directory, async (store) => {
        assert.equal((await store.list({ prefix: '', revision: 2 })).entries[0]?.value.toString(), 'older')
        assert.equal((await readChanges(store, { after: 1, count: 2 })).length, 2)
        assert.equal((await store.get('a'))?.revision, 3)
        await put(store, 'a', 'new', 3)
        assert.equal((await readChanges(store, { after: 1, count: 3 })).length, 3)
      })
      const tables = openTables(directory)
      assert.equal(readState(tables.meta).format, formatVersion)
      await tables.root.close()
      await withStore(directory, async (store) => assert.equal((await store.get('a'))?.value.toString(), 'new'))
    }))
})

/** Converts a directory to the format that the program used before it wrote checksums. */
function unchecked({ current, log, meta }: Tables): void {
  for (const table of [current, log]) {
    const records = [...table.getRange({})].map(({ key, value }) => [Buffer.from(key), Buffer.from(value)] as const)
    for (const [key, record] of records) {
      record.writeUInt16BE(0, 0)
      write(table, key, record)
    }
  }
  write(meta, Buffer.from('format'), Buffer.of(0, 0, 0, 1))
  write(meta, Buffer.from('state'), Buffer.from(meta.get(Buffer.from('state'))!.subarray(0, 16)))
}

describe("the embedded store's thread", () => {
  test('the store thread is not terminated while it loads a native module', () => {
    const leaver = fileURLToPath(new URL('./leaver.ts', import.meta.url))
    const { status, stdout, stderr } = spawnSync(process.execPath, [leaver], { encoding: 'utf8' })
    assert.deepEqual({ status, stdout, stderr }, { status: 3, stdout: 'loaded\n', stderr: '' })
  })

  test('the store thread rejects a value that exceeds the limit and accepts the next value', () =>
    inDirectory((directory) =>
      withStore(directory, async (store) => {
        const value = Buffer.alloc(8 * 1024 * 1024 + 1)
        await assert.rejects(store.commit({ key: 'a', expected: 0, value }), ValueTooLarge)
        await put(store, 'a', '1', 0)
      }),
    ))

  test('closing the store waits for commits in progress', () =>
    inDirectory(async (directory) => {
      const store = await LmdbStore.open({ directory })
      const commits = Array.from({ length: 50 }, (_, i) => put(store, `k/${i}`, 'x', 0))
      await store.close()
      await Promise.all(commits)
      await withStore(directory, async (next) => assert.equal((await next.list({ prefix: 'k/' })).entries.length, 50))
    }))

  test('after the store thread has crashed, pending requests are rejected as ambiguous, and all later requests are rejected', () =>
    inDirectory(async (directory) => {
      const started = once(process, 'worker') as Promise<[Worker]>
      const store = await LmdbStore.open({ directory })
      const [worker] = await started
      const after = await store.revision()
      const watching = assert.rejects(readChanges(store, { after, count: 1 }), StoreError)
      const dead = worker.terminate()
      const commit = store.commit({ key: 'a', expected: 0, value: bytes('1') })
      // The commit was either sent before the crash was detected or not sent at all. Only in the first case is the
      // outcome ambiguous.
      await assert.rejects(commit, refusal(/store thread has exited/))
      await dead
      await watching
      await assert.rejects(store.commit({ key: 'a', expected: 0, value: bytes('1') }), refusal(/store thread/))
      await assert.rejects(store.get('a'), refusal(/store thread/))
      await assert.rejects(store.list({ prefix: '' }), refusal(/store thread/))
      await store.close()
    }))

  test('the store thread reports its exit once even if a request was pending', () =>
    inDirectory(async (directory) => {
      const clock = new HandClock()
      const messages: string[] = []
      const started = once(process, 'worker') as Promise<[Worker]>
      const store = await LmdbStore.open({
        directory,
        clock,
        onFailed: () => void messages.push('failed'),
        onUpkeepError: ({ message }) => void messages.push(message),
      })
      const [worker] = await started
      const dead = worker.terminate()
      // Asks the store to delete expired keys.
      clock.moveTo(10_000)
      await dead
      await assert.rejects(store.get('a'), refusal(/store thread/))
      assert.deepEqual(messages, ['failed'])
      await store.close()
    }))
})

describe('time-based history retention', () => {
  test('history is compacted after the retention time, and a restart begins a new retention period', () =>
    inDirectory(async (directory) => {
      const clock = new HandClock()
      const store = await LmdbStore.open({ directory, historyMs: 1000, clock })
      const first = await put(store, 'a', '1', 0)
      clock.moveTo(100)
      const second = await put(store, 'a', '2', first)
      clock.moveTo(200)
      const third = await put(store, 'a', '3', second)
      clock.moveTo(1099)
      assert.equal((await store.list({ prefix: '', revision: first })).entries.length, 1)
      clock.moveTo(1100)
      clock.moveTo(1201)
      await assert.rejects(store.list({ prefix: '', revision: first }), RevisionGone)
      assert.equal((await store.list({ prefix: '', revision: second })).entries.length, 1)
      await store.close()

      const later = new HandClock()
      later.moveTo(5000)
      const next = await LmdbStore.open({ directory, historyMs: 1000, clock: later })
      later.moveTo(5999)
      assert.equal((await next.list({ prefix: '', revision: second })).entries.length, 1)
      later.moveTo(6001)
      await assert.rejects(next.list({ prefix: '', revision: second }), RevisionGone)
      assert.equal((await next.list({ prefix: '', revision: third })).entries.length, 1)
      await next.close()
    }))
})
