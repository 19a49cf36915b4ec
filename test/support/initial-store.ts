/**
 * Memory stores for servers in the test's own process, for tests that do not concern the store. The initial content is
 * created once per set of flags, as for the servers of `orch/testing`. Keys, other entries under `meta/`, and the CA
 * are not copied, so that no two test servers share a secret.
 */
import { systemClock } from '../../src/base/time/clock.ts'
import type { MemoryStore } from '../../src/storage/store/memory.ts'
import { takeSnapshot } from '../../src/testing/snapshots.ts'
import * as stores from '../../src/testing/stores.ts'

const eventTtlMs = 3_600_000
/**
 * Returns the name of the initial content. This name differs from the name for `orch/testing`, because the control
 * loops there have already completed their work.
 */
const nameOf = (way: string) => `in-process ${way}`

/** Opens a store for a server with the given start options. */
export async function openMemoryStore(way: string): Promise<MemoryStore> {
  return await stores.openMemory({ clock: systemClock, eventTtlMs }, stores.knownBeginning(nameOf(way)))
}

/** Stores the content of a new server that no client has used yet, for later servers. */
export async function saveInitialContent(way: string, store: MemoryStore): Promise<void> {
  if (stores.knownBeginning(nameOf(way)) !== undefined) return
  const profile = way.includes('--profile=kubernetes') ? 'kubernetes' : 'orch'
  stores.keepBeginning(nameOf(way), await takeSnapshot(store, { profile, authority: new Map() }))
}
