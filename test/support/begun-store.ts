/**
 * Stores in memory for servers inside the test's own process: for tests whose subject is not the store. What every
 * server begins with is made once for each set of flags, as for the servers of `orch/testing`. Keys and everything else
 * under `meta/` are not carried over, nor is the authority: no two servers of the tests have a secret in common.
 */
import { systemClock } from '../../src/base/time/clock.ts'
import type { MemoryStore } from '../../src/storage/store/memory.ts'
import { takeSnapshot } from '../../src/testing/snapshots.ts'
import * as stores from '../../src/testing/stores.ts'

const eventTtlMs = 3_600_000
/** Their beginnings are others than those of `orch/testing`, whose control loops have come to rest. */
const nameOf = (way: string) => `in-process ${way}`

/** A store for a server that is started in this way. */
export async function openMemoryStore(way: string): Promise<MemoryStore> {
  return await stores.openMemory({ clock: systemClock, eventTtlMs }, stores.knownBeginning(nameOf(way)))
}

/** Keeps what a server that was started in this way, and that nobody has talked to yet, has put into its store. */
export async function keepBeginning(way: string, store: MemoryStore): Promise<void> {
  if (stores.knownBeginning(nameOf(way)) !== undefined) return
  const profile = way.includes('--profile=kubernetes') ? 'kubernetes' : 'orch'
  stores.keepBeginning(nameOf(way), await takeSnapshot(store, { profile, authority: new Map() }))
}
