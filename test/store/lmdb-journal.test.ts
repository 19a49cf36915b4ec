/**
 * The journal of the embedded store: changes with their notes and old states, over compaction and restarts, bounded by time
 * and by size; values that are not for it go; on a full disk it is given up for new data.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LmdbStore } from '../../src/store/lmdb/store.ts'
import { MemoryStore } from '../../src/store/memory.ts'
import { type Retention, RevisionGone } from '../../src/store/store.ts'
import { untilTrue } from '../tools/until.ts'
import { HandClock } from './hand-clock.ts'
import { changesOf, JournalWriter, stateAt } from './journal-writer.ts'

const root = mkdtempSync(join(tmpdir(), 'orch-journal-'))
after(() => rmSync(root, { recursive: true, force: true }))

const retention: Retention = { time: 3_600_000, bytes: 2 ** 30, withoutValues: ['secret/'] }
const historyMs = 1000
let directories = 0
/** Time 0 would be no time. */
function newClock(): HandClock {
  const clock = new HandClock()
  clock.moveTo(1_000_000)
  return clock
}

const newDirectory = () => join(root, String(++directories))

test('both stores tell the changes of a key, and the states that were', async () => {
  const directory = newDirectory()
  for (const store of [await LmdbStore.open({ directory, retention }), new MemoryStore()]) {
    const writer = new JournalWriter(store)
    const first = await writer.write('a/x', 'one')
    await writer.write('a/xy', 'another')
    const second = await writer.write('a/x', 'two')
    const third = await writer.write('a/x', undefined, { note: 'gone' })
    const fourth = await writer.write('a/x', 'three')
    const { journal } = store
    assert.ok(journal)
    assert.deepEqual(await changesOf(journal, 'a/x'), [
      [fourth, false, 'three', 'note of three'],
      [third, true, undefined, 'gone'],
      [second, false, 'two', 'note of two'],
      [first, false, 'one', 'note of one'],
    ])
    assert.deepEqual(await changesOf(journal, 'a/x', third, 1), [[second, false, 'two', 'note of two']])
    assert.deepEqual(await changesOf(journal, 'a/none'), [])
    assert.deepEqual(await stateAt(journal, first), [['a/x', 'one']])
    assert.deepEqual(await stateAt(journal, third), [['a/xy', 'another']])
    assert.equal(await journal.revisionAt(Date.now()), fourth)
    assert.equal(await journal.revisionAt(1000), undefined)
    await store.close()
  }
})

test('ten thousand revisions over compaction and a restart: every one can be read, and watches cannot', async () => {
  const directory = newDirectory()
  const clock = newClock()
  const first = await LmdbStore.open({ directory, historyMs, clock, retention })
  const writer = new JournalWriter(first, () => clock.now())
  const keys = Array.from({ length: 100 }, (_, i) => `a/${String(i).padStart(3, '0')}`)
  const rounds: number[] = []
  for (let round = 0; round < 100; round++) {
    await Promise.all(keys.map((key) => writer.write(key, `${key} ${round}`)))
    rounds.push(first.revision())
    if (round % 10 === 0) clock.pass(historyMs / 2)
  }
  for (let i = 0; i < 40; i++) clock.pass(historyMs / 10)
  await first.compact(first.revision())
  await first.close()
  const store = await LmdbStore.open({ directory, historyMs, clock, retention })
  const journal = store.journal!
  await assert.rejects(store.list({ prefix: '', revision: rounds[50]! }), RevisionGone)
  for (const round of [0, 1, 50, 98, 99])
    assert.deepEqual(
      await stateAt(journal, rounds[round]!),
      keys.map((key) => [key, `${key} ${round}`]),
    )
  for (const key of keys)
    assert.deepEqual(
      (await changesOf(journal, key)).map(([, , value]) => value),
      rounds.map((_, round) => `${key} ${99 - round}`),
    )
  await store.close()
})

test('what is older than the retention goes, also while nothing is written; the state at its begin stays', async () => {
  const clock = newClock()
  const directory = newDirectory()
  const store = await LmdbStore.open({ directory, historyMs, clock, retention: { ...retention, time: 10_000 } })
  const writer = new JournalWriter(store, () => clock.now())
  const first = await writer.write('a/x', 'one')
  await writer.write('a/x', 'two')
  const pass = (ms: number) => {
    for (let i = 0; i < 20; i++) clock.pass(ms / 20)
  }
  pass(6000)
  const later = await writer.write('a/x', 'three')
  pass(6000)
  const journal = store.journal!
  await untilTrue(async () => (await journal.oldest()) > first)
  assert.deepEqual(
    (await changesOf(journal, 'a/x')).map(([, , value, note]) => [value, note]),
    [
      ['three', 'note of three'],
      ['two', undefined],
    ],
  )
  await assert.rejects(journal.list({ prefix: '', revision: first }), RevisionGone)
  pass(12_000)
  await untilTrue(async () => (await journal.oldest()) >= later)
  assert.deepEqual(
    (await changesOf(journal, 'a/x')).map(([, , value]) => value),
    ['three'],
  )
  await store.close()
})

test('the journal is bounded by its size', async () => {
  const clock = newClock()
  const bytes = 200_000
  const options = { directory: newDirectory(), historyMs, clock, retention: { ...retention, bytes } }
  const store = await LmdbStore.open(options)
  const writer = new JournalWriter(store, () => clock.now())
  // One to a page.
  const value = 'x'.repeat(3000)
  const keys = Array.from({ length: 100 }, (_, i) => `a/${i}`)
  for (let i = 0; i < 10; i++) await Promise.all(keys.map((key) => writer.write(key, `${value}${i}`, { note: 'n' })))
  for (let i = 0; i < 40; i++) clock.pass(historyMs / 10)
  const journal = store.journal!
  const kept = async () => store.revision() - (await journal.oldest())
  await untilTrue(async () => (await kept()) < 60)
  assert.ok((await kept()) > 30, `${await kept()} changes of a page in ${bytes} bytes`)
  await store.close()
})

test('values that are not for the journal are dropped from the file, and their notes stay', async () => {
  const clock = newClock()
  const directory = newDirectory()
  const store = await LmdbStore.open({ directory, historyMs, clock, retention })
  const writer = new JournalWriter(store, () => clock.now())
  for (const value of ['first', 'second', 'third']) await writer.write('secret/x', value, { note: 'note' })
  await writer.write('other/x', 'seen')
  await writer.write('other/x', 'seen again')
  for (let i = 0; i < 40; i++) clock.pass(historyMs / 10)
  const journal = store.journal!
  const values = async (key: string) => (await changesOf(journal, key)).map(([, , value, note]) => [value, note])
  await untilTrue(async () => (await values('secret/x'))[2]![0] === undefined)
  assert.deepEqual(await values('secret/x'), [
    ['third', 'note'],
    [undefined, 'note'],
    [undefined, 'note'],
  ])
  assert.deepEqual(
    (await values('other/x')).map(([value]) => value),
    ['seen again', 'seen'],
  )
  await store.close()
})

test('without a retention there is no journal, and what there was goes', async () => {
  const clock = newClock()
  const directory = newDirectory()
  const before = await LmdbStore.open({ directory, historyMs, clock, retention })
  const writer = new JournalWriter(before, () => clock.now())
  for (let i = 0; i < 10; i++) await writer.write('a/x', `v${i}`)
  for (let i = 0; i < 40; i++) clock.pass(historyMs / 10)
  await before.close()
  const store = await LmdbStore.open({ directory, historyMs, clock })
  assert.equal(store.journal, undefined)
  await store.compact(await new JournalWriter(store).write('b', 'x'))
  await store.close()
  const after = await LmdbStore.open({ directory, historyMs, clock, retention })
  assert.ok((await after.journal!.oldest()) >= 11)
  await after.close()
})
