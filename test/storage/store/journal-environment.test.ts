/**
 * Tests the journal of the embedded store in combination with other features: the stores of several workers,
 * encryption, deletes that leave no record because the disk is full, lifetimes, and a directory in the previous format.
 * lmdb-journal.test.ts tests the journal itself.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encryptedStore } from '../../../src/storage/encryption/encrypted-store.ts'
import { aesgcm } from '../../../src/storage/encryption/providers.ts'
import { StoreHub } from '../../../src/storage/store/lmdb/hub.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { openTables, readState, write } from '../../../src/storage/store/lmdb/tables.ts'
import { WorkerStore } from '../../../src/storage/store/lmdb/worker-store.ts'
import { type Retention, RevisionGone, StoreFull } from '../../../src/storage/store/store.ts'
import { mountSmallDevice } from '../../support/small-device.ts'
import { untilTrue } from '../../support/until.ts'
import { temporaryDirectory } from './directory.ts'
import { HandClock } from './hand-clock.ts'
import { changesOf, JournalWriter, stateAt } from './journal-writer.ts'

const retention: Retention = { time: 3_600_000, bytes: 2 ** 30, withoutValues: [] }
const historyMs = 1000

function newClock(): HandClock {
  const clock = new HandClock()
  clock.moveTo(1_000_000)
  return clock
}

async function directoryOf(t: TestContext): Promise<string> {
  const { directory, removeDirectory } = await temporaryDirectory()
  t.after(removeDirectory)
  return directory
}

test('workers share one journal across compactions, and a reading worker protects the journal from compaction by others', async (t) => {
  const clock = newClock()
  const hub = await StoreHub.open({ directory: await directoryOf(t), historyMs, clock, retention })
  const options = { clock, retention }
  const workers = await Promise.all([1, 2, 3].map(async () => WorkerStore.open(await hub.connect(), options)))
  const [first, second, third] = workers as [WorkerStore, WorkerStore, WorkerStore]
  const writer = new JournalWriter(first, () => clock.now())
  const written: number[] = []
  for (let i = 0; i < 30; i++) written.push(await writer.write('a/x', `v${i}`, { store: workers[i % 3]! }))
  clock.pass(10)
  await writer.write('a/x', undefined, { note: 'gone', store: second })
  for (let i = 0; i < 40; i++) clock.pass(historyMs / 10)
  await untilTrue(() =>
    first.list({ prefix: '', revision: written[3]! }).then(
      () => false,
      (error: unknown) => error instanceof RevisionGone,
    ),
  )
  const expectedChanges = await changesOf(first.journal!, 'a/x')
  assert.deepEqual(
    expectedChanges.map(([, , value, note]) => [value, note]),
    [[undefined, 'gone'], ...written.map((_, i) => [`v${29 - i}`, `note of v${29 - i}`])],
  )
  for (const worker of [second, third]) assert.deepEqual(await changesOf(worker.journal!, 'a/x'), expectedChanges)
  assert.deepEqual(await stateAt(third.journal!, written[3]!), [['a/x', 'v3']])
  assert.equal(await second.journal!.revisionAt(1_000_000), written.at(-1))

  await first.journal!.forget()
  for (const worker of workers) {
    await assert.rejects(stateAt(worker.journal!, written[3]!), RevisionGone)
    assert.ok((await worker.journal!.oldest()) > written[3]!)
  }
  await Promise.all(workers.map((worker) => worker.close()))
  await hub.close()
})

test('archived values in the data file are encrypted like current values and can be read back', async (t) => {
  const directory = await directoryOf(t)
  const raw = await LmdbStore.open({ directory, retention })
  const provider = aesgcm('orch:enc:aesgcm:v1:k:', randomBytes(32))
  const store = encryptedStore(raw, new Map([['objects/core/secrets/', [provider]]]))
  const writer = new JournalWriter(store)
  const name = 'objects/core/secrets/x'
  const canary = 'canary-of-the-journal'
  const first = await writer.write(name, `${canary} 1`, { note: 'n' })
  await writer.write(name, `${canary} 2`, { note: 'n' })
  await writer.write(name, undefined)
  await raw.compact(raw.revision())
  assert.deepEqual(
    (await changesOf(store.journal!, name)).map(([, , value]) => value),
    [undefined, `${canary} 2`, `${canary} 1`],
  )
  assert.deepEqual(await stateAt(store.journal!, first), [[name, `${canary} 1`]])
  assert.ok(!(await stateAt(raw.journal!, first))[0]![1].includes(canary))
  await store.close()
  assert.ok(!readFileSync(join(directory, 'data.mdb')).includes(canary))
})

test('if the log record of a delete is missing, the journal starts again at that revision, even after a server restart', async (t) => {
  const { directory: device, unmount } = mountSmallDevice(4)
  t.after(unmount)
  const directory = join(device, 'data')
  const options = { directory, retention, onWarning: () => {} }
  let store = await LmdbStore.open(options)
  const writer = new JournalWriter(store)
  const early = await writer.write('early', 'before the disk was full')
  await writer.write('early', 'again')
  const large = 'x'.repeat(300_000)
  let count = 0
  const isFull = (error: unknown) => {
    if (error instanceof StoreFull) return -1
    throw error
  }
  while ((await writer.write(`large/${count}`, large, { note: 'n' }).catch(isFull)) > 0) count++
  let small = 0
  while ((await writer.write(`small/${small}`, 'y'.repeat(1000)).catch(isFull)) > 0) small++
  let cut = 0
  for (let i = 0; i < count; i++) cut = await writer.write(`large/${i}`, undefined)
  const later = await writer.write('early', 'after')
  for (const when of ['before', 'after'] as const) {
    const journal = store.journal!
    const oldest = await journal.oldest()
    assert.ok(oldest > early && oldest <= cut, `${when} the restart: ${oldest}`)
    await assert.rejects(stateAt(journal, early), RevisionGone)
    const [newest, ...older] = await changesOf(journal, 'early')
    assert.deepEqual(newest, [later, false, 'after', 'note of after'])
    assert.ok(older.every(([revision]) => (revision as number) < cut))
    assert.equal((await stateAt(journal, cut)).length, small + 1)
    if (when === 'after') break
    await store.close()
    store = await LmdbStore.open(options)
  }
  await store.close()
})

test('the journal contains the time of an expiry and of a write without a note', async (t) => {
  const clock = newClock()
  const store = await LmdbStore.open({ directory: await directoryOf(t), historyMs, clock, retention })
  const value = Buffer.from('short')
  const made = await store.commit({ key: 'a/x', expected: 0, value, lifetimeSeconds: 10 })
  assert.ok(made.outcome === 'committed')
  clock.pass(5000)
  await store.commit({ key: 'b', expected: 0, value })
  clock.pass(10_000)
  await untilTrue(async () => {
    // The timer skips a tick while the previous tick is still running.
    clock.pass(0)
    return (await store.get('a/x')) === undefined
  })
  const journal = store.journal!
  const [gone] = await journal.changes('a/x', Number.MAX_SAFE_INTEGER, 1)
  assert.deepEqual([gone!.deleted, gone!.note!.time, gone!.note!.text.length], [true, 1_015_000, 0])
  assert.equal(await journal.revisionAt(1_004_999), made.revision)
  assert.equal(await journal.revisionAt(1_005_000), made.revision + 1)
  assert.equal(await journal.revisionAt(1_015_000), made.revision + 2)
  await store.close()
})

test('a data directory in format 2 can be opened with its log, and the journal begins with the first change', async (t) => {
  const directory = await directoryOf(t)
  const older = await LmdbStore.open({ directory })
  let revision = 0
  for (const value of ['one', 'two']) {
    const result = await older.commit({ key: 'a', expected: revision, value: Buffer.from(value) })
    assert.ok(result.outcome === 'committed')
    revision = result.revision
  }
  await older.close()
  const tables = openTables(directory)
  tables.root.transactionSync(() => write(tables.meta, Buffer.from('format'), Buffer.of(0, 0, 0, 2)))
  await tables.root.close()

  const store = await LmdbStore.open({ directory, retention })
  assert.deepEqual((await changesOf(store.journal!, 'a')).at(-1)!.slice(2), ['one', undefined])
  const result = await store.commit({
    key: 'a',
    expected: revision,
    value: Buffer.from('three'),
    note: { time: Date.now(), text: Buffer.from('me') },
  })
  assert.ok(result.outcome === 'committed')
  await store.compact(result.revision)
  assert.deepEqual(
    (await changesOf(store.journal!, 'a')).map(([, , value, note]) => [value, note]),
    [
      ['three', 'me'],
      ['two', undefined],
    ],
  )
  await store.close()
  const after = openTables(directory)
  assert.equal(readState(after.meta).format, 3)
  await after.root.close()
})
