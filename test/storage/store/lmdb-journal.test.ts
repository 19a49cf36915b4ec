/**
 * Tests the journal of the embedded store: the guarantees of every journal, and the removal of a journal that was
 * disabled.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { HandClock } from './hand-clock.ts'
import { changesOf, JournalWriter } from './journal-writer.ts'
import { hour, type JournaledStore, journalSuite, type OpenJournaled } from './suite/journal.ts'

const root = mkdtempSync(join(tmpdir(), 'orch-journal-'))
after(() => rmSync(root, { recursive: true, force: true }))

const historyMs = 1000
let directories = 0
/** Returns a clock that starts above 0, because a time of 0 would count as unset. */
function newClock(): HandClock {
  const clock = new HandClock()
  clock.moveTo(1_000_000)
  return clock
}

const newDirectory = () => join(root, String(++directories))

const open: OpenJournaled = async (retention) => {
  const clock = newClock()
  const directory = newDirectory()
  const openStore = async (): Promise<JournaledStore> => {
    const store = await LmdbStore.open({ directory, historyMs, clock, retention })
    return {
      store,
      now: () => clock.now(),
      pass: async (ms) => {
        for (let i = 0; i < 40; i++) clock.pass(ms / 40)
      },
      reopen: async () => {
        await store.close()
        return await openStore()
      },
      close: () => store.close(),
    }
  }
  return await openStore()
}

journalSuite('embedded', open, { rounds: 100 })

test('the memory store returns the changes of a key as long as its log contains them', async () => {
  const store = new MemoryStore()
  const writer = new JournalWriter(store)
  const first = await writer.write('a/x', 'one')
  const second = await writer.write('a/x', undefined, { note: 'gone' })
  assert.deepEqual(await changesOf(store.journal, 'a/x'), [
    [second, true, undefined, 'gone'],
    [first, false, 'one', 'note of one'],
  ])
  assert.equal(await store.journal.revisionAt(Date.now()), second)
  await store.close()
})

test('a store without a retention time has no journal and removes an existing journal', async () => {
  const clock = newClock()
  const directory = newDirectory()
  const before = await LmdbStore.open({ directory, historyMs, clock, retention: hour })
  const writer = new JournalWriter(before, () => clock.now())
  for (let i = 0; i < 10; i++) await writer.write('a/x', `v${i}`)
  for (let i = 0; i < 40; i++) clock.pass(historyMs / 10)
  await before.close()
  const store = await LmdbStore.open({ directory, historyMs, clock })
  assert.equal(store.journal, undefined)
  await store.compact(await new JournalWriter(store).write('b', 'x'))
  await store.close()
  const after = await LmdbStore.open({ directory, historyMs, clock, retention: hour })
  assert.ok((await after.journal!.oldest()) >= 11)
  await after.close()
})
