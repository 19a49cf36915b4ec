/**
 * Opens possibly damaged data directories, one after another. In each directory, reads all data as a server would (the
 * caches, an exact list, the log, the journal), then writes, deletes and compacts, and prints the results as a line of
 * JSON: `damaged-reader.ts --before|--background <revision> <data directory>...`. Errors that the store reports are
 * printed as text. Any other error terminates the process, as it would terminate a server.
 *
 * With `--background`, the pages are checked while the store is in use. In that case, if the check or an earlier read
 * finds damage, the report is a sentence.
 */
import { createHash } from 'node:crypto'
import { Caches } from '../../src/storage/cache/caches.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { type Change, type Entry, type Retention, StoreError } from '../../src/storage/store/store.ts'

export interface Read {
  /** The objects by key. Each value is `<revision> <hash of the bytes sent to clients>`. */
  readonly objects: { readonly [key: string]: string }
  /** Keys of unreadable objects. */
  readonly unreadable: readonly string[]
  /** The exact list at the requested revision. */
  readonly exact: { readonly [key: string]: string }
  /** The log, starting at the requested revision. */
  readonly log: readonly string[]
  /** The changes to each key according to the journal. */
  readonly past: { readonly [key: string]: readonly string[] }
}

export type Report = { readonly read: Read } | { readonly sentence: string; readonly read?: Partial<Read> }

export function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

/** Reads the whole journal. */
const retention: Retention = { time: 3_600_000, bytes: 2 ** 30, withoutValues: [] }

async function report(directory: string, revision: number): Promise<Report> {
  const read: { -readonly [K in keyof Read]?: Read[K] } = {}
  try {
    const failed = Promise.withResolvers<StoreError>()
    const store = await LmdbStore.open({ directory, retention, backgroundCheck, onFailed: failed.resolve })
    try {
      await readAll(store, revision, read)
      await work(store)
      // Compaction has waited for the page check, so the check has finished by now.
      const damage = await Promise.race([failed.promise, undefined])
      if (damage !== undefined) throw damage
    } finally {
      await store.close()
    }
    return { read: read as Read }
  } catch (error) {
    if (error instanceof StoreError) return { sentence: error.message, read }
    throw error
  }
}

async function readAll(store: LmdbStore, revision: number, read: { -readonly [K in keyof Read]?: Read[K] }) {
  const caches = new Caches(store, { onError: () => {}, onUnreadable: () => {} })
  const cache = caches.add('core', 'configmaps')
  await caches.start()
  await caches.stop()
  read.unreadable = cache.allUnreadable().map(({ key }) => key)
  read.objects = Object.fromEntries(
    cache
      .page(undefined, undefined, Number.POSITIVE_INFINITY)
      .map(({ key, revision, json }) => [key, `${revision} ${hash(json)}`]),
  )
  const shown = ({ key, revision, value }: Entry) => {
    const object = cache.readIfSound(key, revision, value)
    return object === undefined ? 'unreadable' : `${revision} ${hash(object.json)}`
  }
  const { entries } = await store.list({ prefix: cache.prefix, revision })
  read.exact = Object.fromEntries(entries.map((entry) => [entry.key, shown(entry)]))
  read.log = await readLog(store, revision, (change) => {
    const { key, revision, value, previous } = change
    const after = value === undefined ? 'deleted' : shown({ key, revision, value })
    return `${key} ${after} after ${previous === undefined ? 'nothing' : shown(previous)}`
  })
  const past: { [key: string]: readonly string[] } = {}
  for (const key of Object.keys(read.exact)) past[key] = await readPast(store, key, shown)
  read.past = past
}

async function readPast(store: LmdbStore, key: string, show: (entry: Entry) => string): Promise<string[]> {
  const found = await store.journal!.changes(key, Number.MAX_SAFE_INTEGER, 100)
  return found.map(({ revision, value, note }) => {
    const what = value === undefined ? 'deleted' : show({ key, revision, value })
    return `${revision} ${what} ${note && Buffer.from(note.text).toString()}`
  })
}

async function readLog(store: LmdbStore, after: number, show: (change: Change) => string): Promise<string[]> {
  const lines: string[] = []
  const { signal } = new AbortController()
  for await (const { changes } of store.watch({ prefix: '', after, until: store.revision(), signal }))
    lines.push(...changes.map(show))
  return lines
}

/** Lists all entries, changes and deletes many of them, and compacts the store. */
async function work(store: LmdbStore): Promise<void> {
  const { entries } = await store.list({ prefix: '' })
  const changes = entries.map(({ key, revision, value }, i) =>
    i % 3 === 2
      ? undefined
      : store.commit({ key, expected: revision, value: i % 3 === 0 ? undefined : Buffer.concat([value, value]) }),
  )
  await Promise.all(changes)
  await store.compact(store.revision())
}

const [mode, revision, ...directories] = process.argv.slice(2)
const backgroundCheck = mode === '--background' ? { above: 0, delayMs: 0 } : undefined
for (const directory of directories) console.log(JSON.stringify(await report(directory, Number(revision))))
