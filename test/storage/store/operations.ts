/**
 * Building blocks for the tests of the store contract (`suite/`): writes and reads, in a form that is easy to compare.
 */
import assert from 'node:assert/strict'
import type {
  Bytes,
  Change,
  Entry,
  Key,
  ReservedKey,
  Revision,
  Snapshot,
  Store,
} from '../../../src/storage/store/store.ts'

export const keysOf = ({ entries }: Snapshot) => entries.map(({ key }) => key)

/** Makes five changes: creates and updates a key, creates another key, then deletes and recreates the first one. */
export async function writeHistory(store: Store): Promise<PlainChange[]> {
  const first = await put(store, 'a', '1', 0)
  const second = await put(store, 'a', '2', first)
  const other = await put(store, 'b', '1', 0)
  const deleted = await remove(store, 'a', second)
  const again = await put(store, 'a', '3', 0)
  return [
    ['a', first, '1', undefined],
    ['a', second, '2', ['a', first, '1']],
    ['b', other, '1', undefined],
    ['a', deleted, undefined, ['a', second, '2']],
    ['a', again, '3', undefined],
  ]
}

/** An entry as key, revision and value as text. */
export type Plain = [Key, Revision, string]

/** A change as key, revision, new value (undefined if deleted) and previous entry. */
export type PlainChange = [Key, Revision, string | undefined, Plain | undefined]

export function plain({ key, revision, value }: Entry): Plain {
  return [key, revision, text(value)]
}

export function plainList(snapshot: Snapshot): Plain[] {
  return snapshot.entries.map(plain)
}

export function plainChange({ key, revision, value, previous }: Change): PlainChange {
  return [key, revision, value && text(value), previous && plain(previous)]
}

export function plainOutcome(outcome: Awaited<ReturnType<Store['commit']>>): object {
  return outcome.outcome === 'committed'
    ? outcome
    : { outcome: 'conflict', current: outcome.current && plain(outcome.current) }
}

export async function entryOf(store: Store, key: Key): Promise<Plain> {
  return plain((await store.get(key))!)
}

export function bytes(value: string): Bytes {
  return Buffer.from(value)
}

/** Returns keys for a commit to reserve, with the holder as their value. */
export function heldBy(holder: string, ...keys: readonly Key[]): ReservedKey[] {
  return keys.map((key) => ({ key, value: bytes(holder) }))
}

export function text(value: Bytes): string {
  return Buffer.from(value).toString()
}

export async function commit(store: Store, key: Key, value: Bytes | undefined, expected: Revision): Promise<Revision> {
  return revisionOf(await store.commit({ key, expected, value }))
}

export function revisionOf(outcome: Awaited<ReturnType<Store['commit']>>): Revision {
  assert.equal(outcome.outcome, 'committed')
  return (outcome as { revision: Revision }).revision
}

/** Writes a key that expires after this many seconds. */
export async function putFor(
  store: Store,
  lifetimeSeconds: number,
  key: Key,
  value: string,
  expected: Revision,
): Promise<Revision> {
  return revisionOf(await store.commit({ key, expected, value: bytes(value), lifetimeSeconds }))
}

export function put(store: Store, key: Key, value: string, expected: Revision): Promise<Revision> {
  return commit(store, key, bytes(value), expected)
}

export function remove(store: Store, key: Key, expected: Revision): Promise<Revision> {
  return commit(store, key, undefined, expected)
}

export function byKey([a]: Plain, [b]: Plain): number {
  return a < b ? -1 : 1
}

export function manyKeys(count: number): Key[] {
  return Array.from({ length: count }, (_, i) => `k/${String(i).padStart(6, '0')}`)
}

/**
 * Processes a few hundred keys at a time, because a cluster on a busy machine takes too long for thousands of
 * concurrent writes.
 */
export async function inTurns<T>(keys: readonly Key[], write: (key: Key, i: number) => Promise<T>): Promise<T[]> {
  const atOnce = 300
  const results: T[] = []
  for (let first = 0; first < keys.length; first += atOnce)
    results.push(...(await Promise.all(keys.slice(first, first + atOnce).map((key, i) => write(key, first + i)))))
  return results
}

export async function writeMany(store: Store, count: number, value: string): Promise<Revision[]> {
  return await inTurns(manyKeys(count), (key) => put(store, key, value, 0))
}

/** Reads `count` changes and then stops the watch. Fails if the last batch contains additional changes. */
export async function readChanges(
  store: Store,
  { after, count, prefix = '' }: { after: Revision; count: number; prefix?: string },
): Promise<Change[]> {
  const controller = new AbortController()
  const seen: Change[] = []
  let told = after
  for await (const { changes, through } of store.watch({ prefix, after, signal: controller.signal })) {
    assert.ok(through > told && changes.every(({ revision }) => revision > told && revision <= through))
    told = through
    seen.push(...changes)
    if (seen.length >= count) controller.abort()
  }
  assert.equal(seen.length, count)
  return seen
}

export function assertRising(revisions: readonly Revision[]): void {
  for (const [i, revision] of revisions.entries()) assert.ok(i === 0 || revision > revisions[i - 1]!)
}
