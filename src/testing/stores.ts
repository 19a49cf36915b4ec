/**
 * The stores of test servers. What every server begins with (default roles, namespaces, API services) takes most of its
 * start, so it is made once for each set of flags in a process: a server that is started like an earlier one finds it in
 * its store, as if it had been started before, and has the same certificate authority. Other keys are not among it.
 */
import { join } from 'node:path'
import { vendorOf } from '../api/model/vendor.ts'
import { BoundedMap } from '../base/collections/bounded-map.ts'
import { repeat, type TimerClock } from '../base/time/clock.ts'
import { prefixOf } from '../storage/cache/caches.ts'
import { reservationsPrefix } from '../storage/cache/reservations.ts'
import { MemoryStore } from '../storage/store/memory.ts'
import type { Entry, Store } from '../storage/store/store.ts'
import { lifetimeOf, type StoredSnapshot, withoutMeta } from './snapshots.ts'

/** Those of the last sets of flags. */
const maxBeginnings = 50
/** What servers begin with, by how they were started. */
const beginnings = new BoundedMap<string, StoredSnapshot>(maxBeginnings)

export interface StoreParts {
  readonly kind: 'memory' | 'temporary'
  readonly directory: string
  readonly clock: TimerClock
  readonly eventTtlMs: number
}

/** A store that holds this at first. */
export async function openTestStore(parts: StoreParts, beginning: StoredSnapshot | undefined): Promise<Store> {
  if (parts.kind === 'memory') return await openMemory(parts, beginning)
  const store = await openTemporary(parts)
  await write(store, carriedOver(beginning), parts.eventTtlMs)
  return store
}

/** The same in memory: its entries keep their versions, but for those that expire. */
export async function openMemory(
  { clock, eventTtlMs }: Pick<StoreParts, 'clock' | 'eventTtlMs'>,
  beginning: StoredSnapshot | undefined,
): Promise<MemoryStore> {
  if (beginning === undefined) return new MemoryStore({ clock })
  const isLasting = ({ key }: Entry) => lifetimeOf(key, eventTtlMs).lifetimeSeconds === undefined
  const entries = carriedOver(beginning)
  const { revision } = beginning
  const store = new MemoryStore({ clock, beginning: { revision, entries: entries.filter(isLasting) } })
  await write(
    store,
    entries.filter((entry) => !isLasting(entry)),
    eventTtlMs,
  )
  return store
}

/** What a server that is started in this way begins with, if one was started before. */
export function knownBeginning(way: string): StoredSnapshot | undefined {
  return beginnings.get(way)
}

/** Keeps what a server that was started in this way, and that nobody has talked to yet, has in its store. */
export function keepBeginning(way: string, snapshot: StoredSnapshot): void {
  if (beginnings.has(way)) return
  beginnings.set(way, withoutMeta(snapshot))
}

async function openTemporary({ directory, clock }: StoreParts): Promise<Store> {
  const { LmdbStore } = await import('../storage/store/lmdb/store.ts')
  const every = (ms: number, run: () => void) => repeat(clock, ms, run)
  const { now, monotonic } = clock
  return await LmdbStore.open({
    directory: join(directory, 'data'),
    clock: { now: now.bind(clock), monotonic: monotonic.bind(clock), every },
  })
}

async function write(store: Store, entries: readonly Entry[], eventTtlMs: number): Promise<void> {
  await Promise.all(
    entries.map(({ key, value }) => store.commit({ key, expected: 0, value, ...lifetimeOf(key, eventTtlMs) })),
  )
}

/** The Service that a server itself is names its port, so each makes its own; what that holds is held under its key. */
function carriedOver(beginning: StoredSnapshot | undefined): readonly Entry[] {
  if (beginning === undefined) return []
  const own = `${prefixOf('core', 'services')}default/${vendorOf(beginning.profile).apiService}`
  const isHeldByOwn = ({ key, value }: Entry) =>
    key.startsWith(reservationsPrefix) && Buffer.from(value).toString() === own
  return beginning.entries.filter((entry) => entry.key !== own && !isHeldByOwn(entry))
}
