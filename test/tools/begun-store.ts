/**
 * Stores in memory for servers inside the test's own process: for tests whose subject is not the store. What every
 * server begins with (default roles, namespaces, API services) takes most of its start, so it is made once for each set
 * of flags: a store of the same set has it already, as if the server had been started before. Keys and everything else
 * under `meta/` are not carried over: no two servers have a secret in common.
 */
import { MemoryStore } from '../../src/store/memory.ts'
import type { Change, Store } from '../../src/store/store.ts'

const begun = new Map<string, readonly Change[]>()

/** A store for a server that is started in this way. */
export async function openMemoryStore(way: string): Promise<Store> {
  const store = new MemoryStore()
  const revisions = new Map<string, number>()
  for (const { key, value } of begun.get(way) ?? []) {
    const result = await store.commit({ key, expected: revisions.get(key) ?? 0, value })
    if (result.outcome === 'conflict') throw new Error(`${key} could not be carried over`)
    revisions.set(key, result.revision)
  }
  return store
}

/** Keeps what a server that was started in this way, and that nobody has talked to yet, has put into its store. */
export async function keepBeginning(way: string, store: Store): Promise<void> {
  if (begun.has(way)) return
  const changes: Change[] = []
  const signal = new AbortController().signal
  const until = await store.revision()
  for await (const batch of store.watch({ prefix: '', after: 1, until, signal })) changes.push(...batch.changes)
  begun.set(
    way,
    changes.filter(({ key }) => !key.startsWith('meta/')),
  )
}
