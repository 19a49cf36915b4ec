/**
 * Stores in memory for servers inside the test's own process: for tests whose subject is not the store. What every
 * server begins with (default roles, namespaces, API services) takes most of its start, so it is made once for each set
 * of flags: a store of the same set has it already, as if the server had been started before. Keys and everything else
 * under `meta/` are not carried over: no two servers have a secret in common.
 */
import { MemoryStore } from '../../src/store/memory.ts'

const begun = new Map<string, MemoryStore>()

/** A store for a server that is started in this way. */
export function openMemoryStore(way: string): MemoryStore {
  return begun.get(way)?.reopened() ?? new MemoryStore()
}

/** Keeps what a server that was started in this way, and that nobody has talked to yet, has put into its store. */
export function keepBeginning(way: string, store: MemoryStore): void {
  if (!begun.has(way))
    begun.set(
      way,
      store.reopened((key) => !key.startsWith('meta/')),
    )
}
