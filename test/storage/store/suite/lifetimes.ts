/** Tests lifetimes: keys that expire. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { maxLifetimeSeconds, type Store, StoreError } from '../../../../src/storage/store/store.ts'
import {
  assertRising,
  byKey,
  bytes,
  entryOf,
  manyKeys,
  plain,
  plainChange,
  plainList,
  put,
  putFor,
  readChanges,
  remove,
} from '../operations.ts'
import { type Open, provesOn } from './prove.ts'

export function lifetimeSuite(name: string, open: Open): void {
  const prove = provesOn(open)
  // Run these tests concurrently, because they wait for time to pass.
  describe(`${name}: lifetimes`, { concurrency: true }, () => {
    prove('an expired key is deleted and reported as deleted', expiry)
    prove('a commit that expects an expired key is a conflict', expiryConflicts)
    prove('a commit without a lifetime removes an earlier lifetime', lifetimeTakenAway)
    prove('a commit with a lifetime replaces an earlier lifetime', lifetimeReplaced)
    prove('keys that expire together are reported one by one, also to a watch that resumes in between', expiryOfMany)
    prove('invalid lifetimes are rejected', lifetimeRefusals)
  })
}

async function expiry(store: Store): Promise<void> {
  const start = await store.revision()
  const stays = await put(store, 'a', '1', 0)
  const first = await putFor(store, 3600, 'b', '1', 0)
  const second = await putFor(store, 1, 'b', '2', first)
  const watching = readChanges(store, { after: start, count: 4 })
  const gone = (await watching).at(-1)!
  assert.deepEqual(plainChange(gone), ['b', gone.revision, undefined, ['b', second, '2']])
  assert.equal(await store.get('b'), undefined)
  assert.ok((await store.revision()) >= gone.revision)
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [['a', stays, '1']])
  assert.deepEqual(plainList(await store.list({ prefix: 'b', revision: second })), [['b', second, '2']])
  assert.deepEqual(plainList(await store.list({ prefix: 'b', revision: gone.revision })), [])
  assert.ok((await put(store, 'b', '3', 0)) > gone.revision)
}

async function expiryConflicts(store: Store): Promise<void> {
  const made = await putFor(store, 1, 'a', '1', 0)
  await readChanges(store, { after: made, count: 1 })
  for (const value of [bytes('2'), undefined]) {
    const outcome = await store.commit({ key: 'a', expected: made, value })
    assert.deepEqual(outcome, { outcome: 'conflict', current: undefined })
  }
}

async function lifetimeTakenAway(store: Store): Promise<void> {
  const rewritten = await put(store, 'a', '2', await putFor(store, 2, 'a', '1', 0))
  await remove(store, 'b', await putFor(store, 2, 'b', '1', 0))
  const remade = await put(store, 'b', '2', 0)
  // The key `c` expires one second after the earlier lifetimes of `a` and `b` would have expired.
  const last = await putFor(store, 3, 'c', '1', 0)
  const seen = await readChanges(store, { after: last, count: 1 })
  assert.equal(seen[0]!.key, 'c')
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [
    ['a', rewritten, '2'],
    ['b', remade, '2'],
  ])
}

async function lifetimeReplaced(store: Store): Promise<void> {
  const longer = await putFor(store, 3600, 'longer', '2', await putFor(store, 2, 'longer', '1', 0))
  const shorter = await putFor(store, 3, 'shorter', '2', await putFor(store, 3600, 'shorter', '1', 0))
  const given = await putFor(store, 3, 'given', '2', await put(store, 'given', '1', 0))
  const seen = await readChanges(store, { after: given, count: 2 })
  assert.deepEqual(seen.map(({ previous }) => plain(previous!)).sort(), [
    ['given', given, '2'],
    ['shorter', shorter, '2'],
  ])
  assert.deepEqual(plainList(await store.list({ prefix: '' })), [['longer', longer, '2']])
}

async function expiryOfMany(store: Store): Promise<void> {
  const count = 250
  const start = await store.revision()
  const made = await Promise.all(manyKeys(count).map((key) => putFor(store, 1, key, key, 0)))
  const all = await readChanges(store, { after: start, count: 2 * count })
  assertRising(all.map(({ revision }) => revision))
  const gone = all.filter(({ value }) => value === undefined)
  const expected = manyKeys(count).map((key, i) => [key, made[i]!, key])
  assert.deepEqual(gone.map(({ previous }) => plain(previous!)).sort(byKey), expected)
  for (const i of [0, 1, 100, count - 2]) {
    const later = all.filter(({ revision }) => revision > gone[i]!.revision)
    const rest = await readChanges(store, { after: gone[i]!.revision, count: later.length })
    assert.deepEqual(rest.map(plainChange), later.map(plainChange))
  }
}

async function lifetimeRefusals(store: Store): Promise<void> {
  for (const seconds of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, maxLifetimeSeconds + 1]) {
    await assert.rejects(putFor(store, seconds, 'a', '1', 0), StoreError)
  }
  const made = await putFor(store, maxLifetimeSeconds, 'a', '1', 0)
  const deletion = { key: 'a', expected: made, value: undefined, lifetimeSeconds: 1 }
  await assert.rejects(store.commit(deletion), StoreError)
  assert.deepEqual(await entryOf(store, 'a'), ['a', made, '1'])
}
