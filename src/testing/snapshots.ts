/**
 * The state of a test server at a moment, and the way back to it. A server goes back by writing what has changed since,
 * as changes like any other: caches, watches and control loops follow as they follow everything, versions only rise, and
 * it costs as much as has changed, not as much as there is.
 *
 * Not part of the state: what lies beside the objects (`meta/`, such as the key of service account tokens) stays as it is
 * when a server goes back, so that credentials stay good; a fork takes it over.
 */

import { allKinds } from '../api/kinds/all.ts'
import { prefixOf } from '../storage/cache/caches.ts'
import type { Entry, Revision, Store, Write } from '../storage/store/store.ts'
import type { AuthorityFiles } from './authority-files.ts'
import type { Snapshot } from './snapshot.ts'

/** What a snapshot holds besides, for servers alone. */
export interface StoredSnapshot extends Snapshot {
  readonly entries: readonly Entry[]
  readonly authority: AuthorityFiles
}

const metaPrefix = 'meta/'
/** How often it is tried to write what others change at the same time. */
const maxRounds = 20

/** Everything that the store holds now. */
export async function takeSnapshot(
  store: Store,
  { profile, authority }: Pick<StoredSnapshot, 'profile' | 'authority'>,
): Promise<StoredSnapshot> {
  const { entries, revision } = await store.list({ prefix: '', count: false })
  return { profile, authority, revision, entries }
}

/** The same without what lies beside the objects: for a server that makes keys of its own. */
export function withoutMeta({ entries, ...snapshot }: StoredSnapshot): StoredSnapshot {
  return { ...snapshot, entries: entries.filter(({ key }) => !key.startsWith(metaPrefix)) }
}

/**
 * Brings the store back to a snapshot. Watches that are under way see it as changes; what happened before is forgotten,
 * so that a watch which resumes from before learns that its version is gone.
 */
export async function restore(store: Store, { entries }: StoredSnapshot, eventTtlMs: number): Promise<void> {
  const wanted = new Map(entries.map((entry) => [entry.key, entry]))
  let began: Revision | undefined
  for (let round = 0; round < maxRounds; round++) {
    const now = await store.list({ prefix: '', count: false })
    began ??= now.revision
    const writes = differences(now.entries, wanted, eventTtlMs)
    if (writes.length === 0) return await store.compact(began)
    await Promise.all(writes.map((write) => store.commit(write)))
  }
  throw new Error('the state of the server did not come to rest: stop what writes to it before it is reset')
}

/** Deletions first, so that what is wanted finds its place free. */
function differences(now: readonly Entry[], wanted: ReadonlyMap<string, Entry>, eventTtlMs: number): Write[] {
  const held = new Map(now.filter(({ key }) => !key.startsWith(metaPrefix)).map((entry) => [entry.key, entry]))
  const writes: Write[] = []
  for (const { key, revision } of held.values())
    if (!wanted.has(key)) writes.push({ key, expected: revision, value: undefined })
  for (const { key, value } of wanted.values()) {
    if (key.startsWith(metaPrefix)) continue
    const current = held.get(key)
    if (current !== undefined && isSame(current.value, value)) continue
    writes.push({ key, expected: current?.revision ?? 0, value, ...lifetimeOf(key, eventTtlMs) })
  }
  return writes
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || Buffer.compare(a, b) === 0
}

const expiring = allKinds.filter(({ life }) => life?.expires).map(({ group, plural }) => prefixOf(group, plural))

/** What expires gets a whole new lifetime: how much of it was left is known to the store alone. */
export function lifetimeOf(key: string, eventTtlMs: number): { lifetimeSeconds?: number } {
  return expiring.some((prefix) => key.startsWith(prefix)) ? { lifetimeSeconds: Math.ceil(eventTtlMs / 1000) } : {}
}
