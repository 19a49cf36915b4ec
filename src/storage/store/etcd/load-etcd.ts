/**
 * Loads entries into an empty prefix of etcd. etcd assigns revisions itself, so every entry gets a new revision. An
 * offset (offset.ts) raises the new revisions above every revision ever returned to clients.
 *
 * Each transaction writes entries together with the marker of an unfinished store. The transaction fails unless this
 * process was the last to write the marker. If two processes load the same prefix, one of them fails.
 */
import { assertKey } from '../key.ts'
import { type Revision, StoreError } from '../store.ts'
import {
  type Load,
  type LoadedEntry,
  type LoadProgress,
  readProgress,
  type StoreLoader,
  unfinishedText,
  writeProgress,
} from '../store-load.ts'
import { Connection } from './connection.ts'
import { isFull, noteFailure, readFailure, writeFailure } from './failure.ts'
import { KeySpace } from './key-space.ts'
import { withLease } from './lease.ts'
import {
  decodeHeaderOnly,
  decodeRange,
  decodeSwap,
  encodeDeleteRange,
  encodeRange,
  encodeSwap,
  type KeyValue,
  methods,
  type SwapRequest,
} from './messages.ts'
import { type EtcdOptions, withSlash } from './store.ts'

/** Limits of one transaction, which leave space in the etcd request for keys and framing. */
const batchLimits = { entries: 100, bytes: 1024 * 1024 }
const deadlineMs = 30_000

/** Starts loading the prefix. Throws StoreError if etcd cannot be used or if the prefix already contains keys. */
export async function loadEtcd(options: Pick<EtcdOptions, 'endpoints' | 'tls'> & { prefix: string }, load: Load) {
  const connection = new Connection({ endpoints: options.endpoints, tls: options.tls, deadlineMs })
  const loading = new EtcdLoading(connection, new KeySpace(withSlash(options.prefix), 0), load)
  try {
    await loading.begin()
    return loading satisfies StoreLoader
  } catch (error) {
    await loading.close()
    throw readFailure(error)
  }
}

class EtcdLoading implements StoreLoader {
  done = 0
  readonly #connection: Connection
  readonly #space: KeySpace
  readonly #load: Load
  /** The etcd revision of the marker, which identifies the last write of the marker. 0 if there is no marker. */
  #markerRevision = 0

  constructor(connection: Connection, space: KeySpace, load: Load) {
    this.#connection = connection
    this.#space = space
    this.#load = load
  }

  async begin(): Promise<void> {
    const marker = await this.#find(this.#space.note('unfinished'))
    const { prefix } = this.#space
    if (marker === undefined && (await this.#firstKey()) !== undefined)
      throw new StoreError(
        `etcd already contains keys under ${prefix}, for example ${await this.#firstKey()}: choose another --etcd-prefix`,
      )
    const before = marker && readProgress(Buffer.from(marker.value).toString())
    this.#markerRevision = marker?.modRevision ?? 0
    if (before?.id === this.#load.id) this.done = before.done
    else {
      await this.#writeMarker(0, {})
      if (marker !== undefined) await this.#clear()
    }
  }

  async write(entries: readonly LoadedEntry[]): Promise<void> {
    for (let from = 0; from < entries.length; ) {
      const part = firstThatFit(entries.slice(from))
      await this.#put(part)
      this.done += part.length
      from += part.length
    }
  }

  async finish(): Promise<Revision> {
    const offsetEntry = await this.#find(this.#space.note('offset'))
    const before = offsetEntry === undefined ? 0 : Number(Buffer.from(offsetEntry.value).toString())
    const offset = Math.max(before, this.#load.above)
    const puts = [{ key: this.#space.note('offset'), value: Buffer.from(String(offset)) }]
    // Delete the archive position of an existing journal, which belongs to another store. Servers then delete the rest
    // of the journal.
    const deletes = [this.#space.note('history')]
    const revision = await this.#swap({ key: this.#space.note('unfinished'), value: undefined, puts, deletes })
    return revision + offset
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  async #put(entries: readonly LoadedEntry[]): Promise<void> {
    const puts = entries.map(({ key, value }) => {
      assertKey(key)
      return { key: this.#space.key(key), value }
    })
    const [{ lifetimeSeconds }] = entries as [LoadedEntry, ...LoadedEntry[]]
    const done = this.done + entries.length
    if (lifetimeSeconds === undefined) return await this.#writeMarker(done, { puts })
    await withLease(this.#connection, lifetimeSeconds, (lease) =>
      this.#writeMarker(done, { puts: puts.map((put) => ({ ...put, lease })) }),
    )
  }

  async #writeMarker(done: number, further: Pick<SwapRequest, 'puts'>): Promise<void> {
    const progress: LoadProgress = { id: this.#load.id, done }
    this.#markerRevision = await this.#swap({
      key: this.#space.note('unfinished'),
      value: writeProgress(progress),
      ...further,
    })
  }

  async #swap(request: Omit<SwapRequest, 'compare'>): Promise<number> {
    const compare = { target: 'modRevision', equals: this.#markerRevision } as const
    const size = (request.puts ?? []).reduce((sum, { value }) => Math.max(sum, value.length), 0)
    try {
      const answer = await this.#connection.call(methods.txn, encodeSwap({ ...request, compare }), { effect: 'write' })
      const { succeeded, revision } = decodeSwap(answer)
      if (succeeded) return revision
    } catch (error) {
      throw isFull(error) ? noteFailure(error) : writeFailure(error, size)
    }
    throw new StoreError(`another process wrote to ${this.#space.prefix} in etcd in the meantime; ${unfinishedText}`)
  }

  /** Deletes the data of another backup whose load was interrupted. The prefix was empty before that load. */
  async #clear(): Promise<void> {
    const request = encodeDeleteRange(this.#space.range('', undefined))
    decodeHeaderOnly(await this.#connection.call(methods.deleteRange, request, { effect: 'read' }))
  }

  async #firstKey(): Promise<string | undefined> {
    const request = encodeRange({ ...this.#space.range('', undefined), limit: 1, keysOnly: true })
    return decodeRange(await this.#connection.call(methods.range, request, { effect: 'read' })).entries[0]?.key
  }

  async #find(key: Uint8Array): Promise<KeyValue | undefined> {
    const answer = await this.#connection.call(methods.range, encodeRange({ key }), { effect: 'read' })
    return decodeRange(answer).entries[0]
  }
}

/**
 * Returns the first entries that fit into one transaction, at least one entry. A lease belongs to only one key
 * (lease.ts), so an entry with a lifetime is written in a separate transaction.
 */
function firstThatFit(entries: readonly LoadedEntry[]): readonly LoadedEntry[] {
  if (entries[0]!.lifetimeSeconds !== undefined) return entries.slice(0, 1)
  let bytes = 0
  const end = entries.findIndex(({ key, value, lifetimeSeconds }, i) => {
    bytes += key.length + value.length
    return i > 0 && (lifetimeSeconds !== undefined || i >= batchLimits.entries || bytes > batchLimits.bytes)
  })
  return end < 0 ? entries : entries.slice(0, end)
}
