/**
 * A store whose values are encrypted where they lie: everybody above sees them as they are, and the store below, its
 * history, its file and its backups never do. The first provider of a resource encrypts; all of them decrypt, each what
 * it has written. A value that cannot be decrypted is handed out as it is: whoever reads it finds that it is no object,
 * reports it, and goes on with the others.
 */
import type { Batch, Change, Entry, Journal, Snapshot, Store, Write } from '../store/store.ts'
import type { Provider } from './providers.ts'

/** The providers by the beginning of keys, such as `objects/core/secrets/`. */
export type Encrypted = ReadonlyMap<string, readonly Provider[]>

/** The same store, with the values below these beginnings of keys encrypted. */
export function encryptedStore(store: Store, encrypted: Encrypted): Store {
  const providersOf = finder(encrypted)
  const open = (entry: Entry): Entry => {
    const providers = providersOf(entry.key)
    return providers === undefined ? entry : { ...entry, value: shown(providers, entry.key, entry.value) }
  }
  const openChange = (change: Change): Change => {
    const providers = providersOf(change.key)
    if (providers === undefined) return change
    const { key, value, previous } = change
    return {
      ...change,
      value: value && shown(providers, key, value),
      previous: previous && { ...previous, value: shown(providers, key, previous.value) },
    }
  }
  const openAll = (snapshot: Snapshot): Snapshot => ({ ...snapshot, entries: snapshot.entries.map(open) })
  const concerns = (prefix: string) =>
    [...encrypted.keys()].some((each) => each.startsWith(prefix) || prefix.startsWith(each))
  async function* opened(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const { changes, through } of batches) yield { changes: changes.map(openChange), through }
  }
  return {
    commit: async (write) => {
      const result = await store.commit(sealed(write, providersOf(write.key)))
      if (result.outcome === 'committed' || result.current === undefined) return result
      return { ...result, current: open(result.current) }
    },
    get: async (key) => {
      const entry = await store.get(key)
      return entry && open(entry)
    },
    list: async (range) => (concerns(range.prefix) ? openAll(await store.list(range)) : store.list(range)),
    watch: (options) => (concerns(options.prefix) ? opened(store.watch(options)) : store.watch(options)),
    journal: store.journal && openedJournal(store.journal, providersOf),
    revision: () => store.revision(),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
  }
}

type FindProviders = (key: string) => readonly Provider[] | undefined

/** What was not kept of a value is empty, and nothing to decrypt. */
function openedJournal(journal: Journal, providersOf: FindProviders): Journal {
  const open = <T extends { readonly value: Uint8Array | undefined }>(key: string, found: T): T => {
    const { value } = found
    const providers = value?.length ? providersOf(key) : undefined
    return value === undefined || providers === undefined ? found : { ...found, value: shown(providers, key, value) }
  }
  return {
    changes: async (key, before, limit) =>
      (await journal.changes(key, before, limit)).map((change) => open(key, change)),
    list: async (range) => {
      const snapshot = await journal.list(range)
      return { ...snapshot, entries: snapshot.entries.map((entry) => open(entry.key, entry)) }
    },
    revisionAt: (time) => journal.revisionAt(time),
    oldest: () => journal.oldest(),
    forget: () => journal.forget(),
  }
}

function sealed(write: Write, providers: readonly Provider[] | undefined): Write {
  const { key, value } = write
  if (providers === undefined || value === undefined) return write
  return { ...write, value: providers[0]!.encrypt(key, value) }
}

/** By the whole key, or by its first three parts: a group and a resource. */
function finder(encrypted: Encrypted): FindProviders {
  return (key) => {
    const [first, second] = [key.indexOf('/'), key.indexOf('/', key.indexOf('/') + 1)]
    const third = first < 0 || second < 0 ? -1 : key.indexOf('/', second + 1)
    return encrypted.get(third < 0 ? key : key.slice(0, third + 1))
  }
}

/** A decrypted value, and the provider whose key decrypted it. */
export interface Decrypted {
  readonly plain: Uint8Array
  readonly provider: Provider
}

/** Returns undefined if no provider can decrypt the value. */
export function decrypt(providers: readonly Provider[], place: string, value: Uint8Array): Decrypted | undefined {
  for (const provider of providers) {
    if (!isBy(provider, value)) continue
    try {
      return { plain: provider.decrypt(place, value.subarray(provider.marker.length)), provider }
    } catch {
      // Perhaps another key of the same name fits. What is wrong might quote the value.
    }
  }
  return undefined
}

function shown(providers: readonly Provider[], place: string, value: Uint8Array): Uint8Array {
  return decrypt(providers, place, value)?.plain ?? (isMarked(value) ? value : unexpected)
}

/** Whether a value names this provider and its key. Another key with the same name may have written the value. */
function isBy({ marker }: Provider, value: Uint8Array): boolean {
  if (marker === '') return !isMarked(value)
  return Buffer.from(value.subarray(0, marker.length)).toString('latin1') === marker
}

const marked = /^[a-z0-9]+:enc:/

function isMarked(value: Uint8Array): boolean {
  return marked.test(Buffer.from(value.subarray(0, 20)).toString('latin1'))
}

/** Stands for plain text where the configuration does not name `identity`: somebody may have put it there. */
const unexpected = Buffer.from('orch:enc:plain:')
