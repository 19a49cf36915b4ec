/** Tests that restarts do not change the data, for every persistent backend. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Key, type Revision, RevisionGone, type Store } from '../../../../src/storage/store/store.ts'
import { someOf } from '../../../support/long.ts'
import { compareAcrossRestarts } from '../model.ts'
import {
  byKey,
  manyKeys,
  type Plain,
  type PlainChange,
  plainChange,
  plainList,
  put,
  putFor,
  readChanges,
  text,
  writeHistory,
  writeMany,
} from '../operations.ts'
import { type OpenDurable, provesAcrossRestarts } from './prove.ts'

export function restartSuite(name: string, open: OpenDurable): void {
  const prove = provesAcrossRestarts(open)
  describe(`${name}: restarts`, () => {
    prove('revisions continue after a restart, and nothing is lost', restart)
    prove('every change is replayed from the log to many readers, followed by live changes', replayAfterRestart)
    prove('compacted revisions stay unavailable after a restart', compactionAcrossRestart)
    prove('lifetimes continue', lifetimesAcrossRestart)
    for (const seed of someOf([11, 12], 1)) {
      const plan = { seed, restarts: 5, steps: 80 }
      prove(`random operations have the same results as in the model (seed ${seed})`, (store, reopen) =>
        compareAcrossRestarts(store, reopen, plan),
      )
    }
  })
}

async function restart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const start = await store.revision()
  const expected = await writeHistory(store)
  const before = await store.list({ prefix: '' })
  const next = await reopen()
  assert.ok((await next.revision()) >= before.revision)
  assert.deepEqual(plainList(await next.list({ prefix: '' })), plainList(before))
  for (const [, revision] of expected) {
    const state = await next.list({ prefix: '', revision })
    assert.deepEqual(plainList(state), stateAfter(expected, revision))
  }
  assert.deepEqual((await readChanges(next, { after: start, count: expected.length })).map(plainChange), expected)
  assert.ok((await put(next, 'c', '1', 0)) > before.revision)
}

/** Returns the state after applying changes to an empty store. */
function stateAfter(changes: readonly PlainChange[], last: Revision): Plain[] {
  const state = new Map<Key, Plain>()
  for (const [key, revision, value] of changes) {
    if (revision > last) break
    if (value === undefined) state.delete(key)
    else state.set(key, [key, revision, value])
  }
  return [...state.values()].sort(byKey)
}

async function replayAfterRestart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const start = await store.revision()
  const created = await writeMany(store, 1200, 'x'.repeat(2000))
  const next = await reopen()
  const order = created.toSorted((a, b) => a - b)
  const watches = [0, 599, 1198].map((i) => readChanges(next, { after: order[i]!, count: 1199 - i + 100 }))
  const updated = await Promise.all(manyKeys(100).map((key, i) => put(next, key, 'y', created[i]!)))
  const all = [...created, ...updated].sort((a, b) => a - b)
  for (const [i, watch] of watches.entries()) {
    const seen = await watch
    assert.deepEqual(
      seen.map((change) => change.revision),
      all.slice([1, 600, 1199][i]),
    )
    assert.equal(text(seen.at(-1)!.previous!.value), 'x'.repeat(2000))
  }
  assert.equal((await readChanges(next, { after: start, count: 1300 })).length, 1300)
}

async function compactionAcrossRestart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const first = await put(store, 'a', '1', 0)
  const second = await put(store, 'a', '2', first)
  const third = await put(store, 'a', '3', second)
  await store.compact(second)
  const next = await reopen()
  await assert.rejects(next.list({ prefix: '', revision: first }), RevisionGone)
  await assert.rejects(readChanges(next, { after: first, count: 1 }), RevisionGone)
  assert.deepEqual(plainList(await next.list({ prefix: '', revision: second })), [['a', second, '2']])
  assert.deepEqual((await readChanges(next, { after: second, count: 1 })).map(plainChange), [
    ['a', third, '3', ['a', second, '2']],
  ])
}

async function lifetimesAcrossRestart(store: Store, reopen: () => Promise<Store>): Promise<void> {
  const long = await putFor(store, 3600, 'long', '1', 0)
  const short = await putFor(store, 1, 'short', '1', 0)
  const next = await reopen()
  const [gone] = await readChanges(next, { after: short, count: 1 })
  assert.deepEqual(plainChange(gone!), ['short', gone!.revision, undefined, ['short', short, '1']])
  const again = await reopen()
  assert.deepEqual(plainList(await again.list({ prefix: '' })), [['long', long, '1']])
  const replayed = await readChanges(again, { after: short, count: 1 })
  assert.deepEqual(replayed.map(plainChange), [plainChange(gone!)])
}
