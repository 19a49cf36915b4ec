/**
 * Stores of test servers. Creating the initial objects (default roles, namespaces, API services) takes most of a
 * server's startup time, so they are created only once per process and set of flags. A server with the same flags as an
 * earlier one finds these objects in its store, as after a restart, and has the same CA. Other keys are not shared.
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

/** Maximum number of flag sets whose initial store content is remembered. */
const maxBeginnings = 50
/** Initial store contents, by the start options that produced them. */
const beginnings = new BoundedMap<string, StoredSnapshot>(maxBeginnings)

export interface StoreParts {
  readonly kind: 'memory' | 'temporary'
  readonly directory: string
  readonly clock: TimerClock
  readonly eventTtlMs: number
}

/** Opens the store of a test server. Writes the initial content, if any, into it. */
export async function openTestStore(parts: StoreParts, beginning: StoredSnapshot | undefined): Promise<Store> {
  if (parts.kind === 'memory') return await openMemory(parts, beginning)
  const store = await openTemporary(parts)
  await write(store, carriedOver(beginning), parts.eventTtlMs)
  return store
}

/** Opens an in-memory store with the initial content. Entries keep their revisions, except for those that expire. */
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

/** Returns the initial content that an earlier server with the same start options created, if any. */
export function knownBeginning(way: string): StoredSnapshot | undefined {
  return beginnings.get(way)
}

/** Remembers the content of a new server that no client has used yet. */
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

/** The Lease of an API server. Its name contains a hash of the port. */
const identityLease = `${prefixOf('coordination', 'leases')}kube-system/apiserver-`

/** The only IPAddress of a new server belongs to the server's own Service. */
const addresses = prefixOf('networking', 'ipaddresses')

/**
 * Returns the initial entries that another server can use. Omits the objects that depend on the server's port, because
 * each server creates them itself: its Service with the IPAddress, the Service's reservations, and the Lease that
 * identifies the server.
 */
function carriedOver(beginning: StoredSnapshot | undefined): readonly Entry[] {
  if (beginning === undefined) return []
  const service = `${prefixOf('core', 'services')}default/${vendorOf(beginning.profile).apiService}`
  const isOwn = ({ key, value }: Entry) =>
    key === service ||
    key.startsWith(identityLease) ||
    key.startsWith(addresses) ||
    (key.startsWith(reservationsPrefix) && Buffer.from(value).toString() === service)
  return beginning.entries.filter((entry) => !isOwn(entry))
}
