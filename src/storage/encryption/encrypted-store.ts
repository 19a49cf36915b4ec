/**
 * A store that encrypts values at rest. Its callers receive plain values. The underlying store, its log, journal, file
 * and backups contain only encrypted values. The first provider of a resource encrypts values. To decrypt a value, the
 * store uses the provider that encrypted it. A value that cannot be decrypted is returned unchanged. The reader then
 * reports the value as unreadable and continues with the other objects.
 */
import type { Batch, Change, Entry, Journal, Snapshot, Store, Write } from '../store/store.ts'
import type { Provider } from './providers.ts'

/** The encryption providers by key prefix, such as `objects/core/secrets/`. */
export type Encrypted = ReadonlyMap<string, readonly Provider[]>

/** Returns a store that encrypts the values under the given key prefixes. */
export function encryptedStore(store: Store, encrypted: Encrypted): Store {
  const providersOf = providerFinder(encrypted)
  const open = (entry: Entry): Entry => {
    const providers = providersOf(entry.key)
    return providers === undefined ? entry : { ...entry, value: decryptOrMark(providers, entry.key, entry.value) }
  }
  const openChange = (change: Change): Change => {
    const providers = providersOf(change.key)
    if (providers === undefined) return change
    const { key, value, previous } = change
    return {
      ...change,
      value: value && decryptOrMark(providers, key, value),
      previous: previous && { ...previous, value: decryptOrMark(providers, key, previous.value) },
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

/** Returns the providers of a key, or undefined if the value of the key must not be encrypted. */
type FindProviders = (key: string) => readonly Provider[] | undefined

/**
 * Wraps a journal so that it returns decrypted values. For an omitted value, the journal returns an empty value, which
 * is not decrypted.
 */
function openedJournal(journal: Journal, providersOf: FindProviders): Journal {
  const open = <T extends { readonly value: Uint8Array | undefined }>(key: string, entry: T): T => {
    const { value } = entry
    const providers = value?.length ? providersOf(key) : undefined
    return value === undefined || providers === undefined
      ? entry
      : { ...entry, value: decryptOrMark(providers, key, value) }
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

/**
 * Returns a function that finds the providers of a key. The function looks up the whole key, or its first three
 * segments: `objects`, a group and a resource.
 */
export function providerFinder(encrypted: Encrypted): FindProviders {
  return (key) => {
    const first = key.indexOf('/')
    const second = key.indexOf('/', key.indexOf('/') + 1)
    const third = first < 0 || second < 0 ? -1 : key.indexOf('/', second + 1)
    return encrypted.get(third < 0 ? key : key.slice(0, third + 1))
  }
}

/** A decrypted value and the provider that could decrypt it. */
export interface Decrypted {
  readonly plain: Uint8Array
  readonly provider: Provider
}

/** Decrypts a value. Returns undefined if no provider can decrypt it. */
export function decrypt(providers: readonly Provider[], place: string, value: Uint8Array): Decrypted | undefined {
  for (const provider of providers) {
    if (!isBy(provider, value)) continue
    try {
      return { plain: provider.decrypt(place, value.subarray(provider.marker.length)), provider }
    } catch {
      // Try the next provider, which may have a different key with the same name. The error is not reported because its
      // message might quote the value.
    }
  }
  return undefined
}

/** Decrypts a value. Returns a value with an encryption marker if no provider can decrypt it. */
export function decryptOrMark(providers: readonly Provider[], place: string, value: Uint8Array): Uint8Array {
  return decrypt(providers, place, value)?.plain ?? (isMarked(value) ? value : unexpected)
}

/**
 * Whether the marker of a value names the given provider and the provider's key. The provider may still be unable to
 * decrypt the value, because different keys can have the same name.
 */
function isBy({ marker }: Provider, value: Uint8Array): boolean {
  if (marker === '') return !isMarked(value)
  return Buffer.from(value.subarray(0, marker.length)).toString('latin1') === marker
}

const marked = /^[a-z0-9]+:enc:/

function isMarked(value: Uint8Array): boolean {
  return marked.test(Buffer.from(value.subarray(0, 20)).toString('latin1'))
}

/**
 * The value returned in place of plain text if the configuration does not list `identity`. An attacker who can write to
 * the store could have replaced an encrypted value with plain text.
 */
const unexpected = Buffer.from('orch:enc:plain:')
