/**
 * Tests the guarantees of a journal, for every store that retains a journal across compaction and restarts: changes
 * with their notes and old states, bounded by age and size, without the values that the journal excludes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Retention, RevisionAhead, RevisionGone, type Store } from '../../../../src/storage/store/store.ts'
import { untilTrue } from '../../../support/until.ts'
import { changesOf, JournalWriter, stateAt } from '../journal-writer.ts'

/** A store with a manual clock. */
export interface JournaledStore {
  readonly store: Store
  now(): number
  /**
   * Advances time and runs the store's periodic work. After one second, everything that was written earlier is
   * compacted.
   */
  pass(ms: number): Promise<void>
  /** Closes and reopens the store. */
  reopen(): Promise<JournaledStore>
  close(): Promise<void>
}

export type OpenJournaled = (retention: Retention) => Promise<JournaledStore>

export const hour: Retention = { time: 3_600_000, bytes: 2 ** 30, withoutValues: ['secret/'] }

/**
 * Registers the tests for a journal. Each of a hundred keys is written `rounds` times before compaction and a restart.
 */
export function journalSuite(name: string, open: OpenJournaled, { rounds: count }: { rounds: number }): void {
  test(`${name}: the journal returns the changes of a key and old states`, async () => {
    const opened = await open(hour)
    const { store } = opened
    const writer = new JournalWriter(store, () => opened.now())
    const first = await writer.write('a/x', 'one')
    await writer.write('a/xy', 'another')
    const second = await writer.write('a/x', 'two')
    const third = await writer.write('a/x', undefined, { note: 'gone' })
    const fourth = await writer.write('a/x', 'three')
    const journal = store.journal!
    for (const when of ['before', 'after'] as const) {
      assert.deepEqual(
        await changesOf(journal, 'a/x'),
        [
          [fourth, false, 'three', 'note of three'],
          [third, true, undefined, 'gone'],
          [second, false, 'two', 'note of two'],
          [first, false, 'one', 'note of one'],
        ],
        `${when} compaction`,
      )
      assert.deepEqual(await changesOf(journal, 'a/x', third, 1), [[second, false, 'two', 'note of two']])
      assert.deepEqual(await changesOf(journal, 'a/x', first), [])
      assert.deepEqual(await changesOf(journal, 'a/none'), [])
      assert.deepEqual(await stateAt(journal, first), [['a/x', 'one']])
      assert.deepEqual(await stateAt(journal, third), [['a/xy', 'another']])
      assert.deepEqual(await stateAt(journal, fourth), [
        ['a/x', 'three'],
        ['a/xy', 'another'],
      ])
      const page = await journal.list({ prefix: 'a/', revision: second, limit: 1 })
      assert.deepEqual([page.entries.map(({ key }) => key), page.remaining > 0], [['a/x'], true])
      const rest = await journal.list({ prefix: 'a/', revision: second, after: 'a/x' })
      assert.deepEqual([rest.entries.map(({ key }) => key), rest.remaining], [['a/xy'], 0])
      assert.equal(await journal.revisionAt(opened.now()), fourth)
      assert.equal(await journal.revisionAt(1000), undefined)
      await assert.rejects(stateAt(journal, fourth + 1000), RevisionAhead)
      await opened.pass(4000)
    }
    await opened.close()
  })

  test(`${name}: ${100 * count} revisions stay readable after compaction and a restart, but cannot be watched`, async () => {
    const opened = await open(hour)
    const writer = new JournalWriter(opened.store, () => opened.now())
    const keys = Array.from({ length: 100 }, (_, i) => `a/${String(i).padStart(3, '0')}`)
    const rounds: number[] = []
    for (let round = 0; round < count; round++) {
      await Promise.all(keys.map((key) => writer.write(key, `${key} ${round}`)))
      rounds.push(await opened.store.revision())
      if (round % 10 === 0) await opened.pass(500)
    }
    await opened.pass(4000)
    await opened.store.compact(await opened.store.revision())
    const { store, close } = await opened.reopen()
    const journal = store.journal!
    const half = Math.floor(count / 2)
    await assert.rejects(store.list({ prefix: '', revision: rounds[half]! }), RevisionGone)
    for (const round of new Set([0, 1, half, count - 2, count - 1]))
      assert.deepEqual(
        await stateAt(journal, rounds[round]!),
        keys.map((key) => [key, `${key} ${round}`]),
      )
    for (const key of count > 50 ? keys.slice(0, 20) : keys)
      assert.deepEqual(
        (await changesOf(journal, key)).map(([, , value]) => value),
        rounds.map((_, round) => `${key} ${count - 1 - round}`),
      )
    await close()
  })

  test(`${name}: changes older than the retention time are dropped even without writes, and the state before them is kept`, async () => {
    const opened = await open({ ...hour, time: 10_000 })
    const { store } = opened
    const writer = new JournalWriter(store, () => opened.now())
    const first = await writer.write('a/x', 'one')
    await writer.write('a/x', 'two')
    await opened.pass(6000)
    const later = await writer.write('a/x', 'three')
    await opened.pass(6000)
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
    await opened.pass(12_000)
    await untilTrue(async () => (await journal.oldest()) >= later)
    assert.deepEqual(
      (await changesOf(journal, 'a/x')).map(([, , value]) => value),
      ['three'],
    )
    await opened.close()
  })

  test(`${name}: the journal is bounded by its size limit`, async () => {
    const bytes = 200_000
    const opened = await open({ ...hour, bytes })
    const { store } = opened
    const writer = new JournalWriter(store, () => opened.now())
    // A value that fills one page of the data file.
    const value = 'x'.repeat(3000)
    const keys = Array.from({ length: 100 }, (_, i) => `a/${i}`)
    const written: number[] = []
    for (let i = 0; i < 4; i++)
      for (const key of keys) written.push(await writer.write(key, `${value}${i}`, { note: 'n' }))
    await opened.pass(4000)
    // While the journal is being trimmed, an earlier state is either complete or not available.
    for (const at of written.slice(100)) {
      const found = await stateAt(store.journal!, at).catch((error) => error)
      assert.ok(found instanceof RevisionGone || found.length === 100, `${found.length ?? found} at ${at}`)
    }
    // A reader delays the trimming by at most a minute.
    await opened.pass(70_000)
    const remainingCount = async () => {
      const oldest = await store.journal!.oldest()
      return written.filter((revision) => revision > oldest).length
    }
    await untilTrue(async () => (await remainingCount()) < 60)
    assert.ok((await remainingCount()) > 30, `${await remainingCount()} changes of a page in ${bytes} bytes`)
    // The oldest state is complete, unless it is deleted at that moment.
    const oldestState = async () => await stateAt(store.journal!, await store.journal!.oldest())
    await untilTrue(async () => {
      const found = await oldestState().catch((error) => error)
      assert.ok(found instanceof RevisionGone || found.length === 100, `${found.length ?? found}`)
      return found.length === 100
    })
    await opened.close()
  })

  test(`${name}: excluded values are dropped, and their notes are kept`, async () => {
    const opened = await open(hour)
    const writer = new JournalWriter(opened.store, () => opened.now())
    for (const value of ['first', 'second', 'third']) await writer.write('secret/x', value, { note: 'note' })
    await writer.write('other/x', 'seen')
    await writer.write('other/x', 'seen again')
    await opened.pass(4000)
    const journal = opened.store.journal!
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
    await opened.close()
  })

  test(`${name}: a deleted journal restarts at the current revision and continues`, async () => {
    const opened = await open(hour)
    const writer = new JournalWriter(opened.store, () => opened.now())
    const first = await writer.write('a/x', 'one')
    const second = await writer.write('a/x', 'two')
    await opened.store.compact(await opened.store.revision())
    const journal = opened.store.journal!
    await journal.forget()
    assert.ok((await journal.oldest()) >= second)
    await assert.rejects(stateAt(journal, first), RevisionGone)
    const third = await writer.write('a/x', 'three')
    assert.deepEqual(await changesOf(journal, 'a/x'), [
      [third, false, 'three', 'note of three'],
      [second, false, 'two', undefined],
    ])
    await opened.close()
  })
}
