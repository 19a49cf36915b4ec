/**
 * Creates snapshots of a test server and restores them. To restore a snapshot, the server writes the differences as a
 * client would. Caches, watches and control loops therefore follow the changes as usual, resource versions only
 * increase, and the cost depends on the number of changes rather than on the size of the state.
 *
 * Data other than objects (`meta/`, such as the service account key) is not restored, so that credentials remain valid.
 * A fork copies this data.
 */

import { allKinds } from '../api/kinds/all.ts'
import { prefixOf } from '../storage/cache/caches.ts'
import type { Entry, Revision, Store, Write } from '../storage/store/store.ts'
import type { AuthorityFiles } from './authority-files.ts'
import type { Snapshot } from './snapshot.ts'

/** A snapshot with the stored entries, which are not part of the public interface. */
export interface StoredSnapshot extends Snapshot {
  readonly entries: readonly Entry[]
  readonly authority: AuthorityFiles
}

const metaPrefix = 'meta/'
/** Maximum number of attempts to write objects that other clients change concurrently. */
const maxRounds = 20

/** Returns the complete current content of the store. */
export async function takeSnapshot(
  store: Store,
  { profile, authority }: Pick<StoredSnapshot, 'profile' | 'authority'>,
): Promise<StoredSnapshot> {
  const { entries, revision } = await store.list({ prefix: '', count: false })
  return { profile, authority, revision, entries }
}

/** Returns the snapshot without secrets such as keys, for a server that creates its own secrets. */
export function withoutMeta({ entries, ...snapshot }: StoredSnapshot): StoredSnapshot {
  return { ...snapshot, entries: entries.filter(({ key }) => !key.startsWith(metaPrefix)) }
}

/**
 * Restores a snapshot. Open watches receive the changes. The history is compacted, so a watch that resumes from an
 * earlier version gets a 410.
 */
export async function restore(store: Store, { entries }: StoredSnapshot, eventTtlMs: number): Promise<void> {
  const snapshotEntries = new Map(entries.map((entry) => [entry.key, entry]))
  let began: Revision | undefined
  for (let round = 0; round < maxRounds; round++) {
    const now = await store.list({ prefix: '', count: false })
    began ??= now.revision
    const writes = differences(now.entries, snapshotEntries, eventTtlMs)
    if (writes.length === 0) return await store.compact(began)
    await Promise.all(writes.map((write) => store.commit(write)))
  }
  throw new Error("the server's state did not settle: stop all writers before you reset it")
}

/** Returns the writes that restore a snapshot. Deletions come first, to free the keys for the restored objects. */
function differences(now: readonly Entry[], snapshotEntries: ReadonlyMap<string, Entry>, eventTtlMs: number): Write[] {
  const currentEntries = new Map(
    now.filter(({ key }) => !key.startsWith(metaPrefix)).map((entry) => [entry.key, entry]),
  )
  const writes: Write[] = []
  for (const { key, revision } of currentEntries.values())
    if (!snapshotEntries.has(key)) writes.push({ key, expected: revision, value: undefined })
  for (const { key, value } of snapshotEntries.values()) {
    if (key.startsWith(metaPrefix)) continue
    const current = currentEntries.get(key)
    if (current !== undefined && isSame(current.value, value)) continue
    writes.push({ key, expected: current?.revision ?? 0, value, ...lifetimeOf(key, eventTtlMs) })
  }
  return writes
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || Buffer.compare(a, b) === 0
}

const expiring = allKinds
  .filter(({ lifecycle }) => lifecycle?.expires)
  .map(({ group, plural }) => prefixOf(group, plural))

/**
 * Returns the lifetime of an entry. For an object that expires, the full lifetime starts again, because only the store
 * knows the remaining time.
 */
export function lifetimeOf(key: string, eventTtlMs: number): { lifetimeSeconds?: number } {
  return expiring.some((prefix) => key.startsWith(prefix)) ? { lifetimeSeconds: Math.ceil(eventTtlMs / 1000) } : {}
}
