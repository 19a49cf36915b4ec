/**
 * Reads the store's log in shared chunks, for watches that start before the caches' event buffers.
 *
 * A reader requests the chunk after its current revision and releases earlier chunks. The latest chunks are cached for
 * a while, together with their events. If many clients resume from old revisions at the same time, the log is therefore
 * read and decoded only once. The size of the cache in bytes is limited. After a chunk has been evicted, its readers
 * read the log again.
 */
import type { Change, Revision, Store } from '../store/store.ts'
import { StoreError } from '../store/store.ts'
import type { CachedObject } from './cached-object.ts'
import type { CacheEvent } from './event.ts'
import type { KindCache } from './kind-cache.ts'

/** The size in bytes at which a chunk ends. The change with which the chunk reaches this size is its last change. */
const pieceBytes = 256 * 1024
const maxKeptBytes = 8 * 1024 * 1024
const keptMs = 10_000

/** A chunk of the log: all changes after one revision, up to another revision. */
export class LogChunk {
  readonly after: Revision
  readonly through: Revision
  readonly bytes: number
  readonly #changes: readonly Change[]
  readonly #events = new Map<KindCache, readonly CacheEvent[]>()

  constructor(after: Revision, through: Revision, changes: readonly Change[]) {
    this.after = after
    this.through = through
    this.#changes = changes
    this.bytes = changes.reduce((sum, change) => sum + weight(change), 0)
  }

  /** Returns the events of a kind for the changes in the chunk. Throws UnreadableValue. */
  events(cache: KindCache): readonly CacheEvent[] {
    const events = this.#events.get(cache) ?? [...this.#read(cache)]
    this.#events.set(cache, events)
    return events
  }

  *#read(cache: KindCache): Generator<CacheEvent> {
    const latest = new Map<string, CachedObject>()
    for (const change of this.#changes) {
      if (!change.key.startsWith(cache.prefix)) continue
      const event = cache.event(change, previousOf(cache, change, latest.get(change.key)))
      if (event === undefined) continue
      latest.set(change.key, event.object)
      yield event
    }
  }
}

/**
 * Returns the state of an object before a change. Usually, this is the result of the preceding change, which has
 * already been decoded.
 */
function previousOf(cache: KindCache, { key, previous }: Change, lastObject: CachedObject | undefined) {
  if (previous === undefined || lastObject?.revision === previous.revision) return previous && lastObject
  return cache.readIfSound(key, previous.revision, previous.value)
}

export class LogChunks {
  readonly #store: Store
  readonly #prefix: string
  /** The cached chunks, most recently used last. */
  readonly #cachedChunks = new Set<LogChunk>()
  readonly #reading = new Map<Revision, Promise<LogChunk>>()
  readonly #stop = new AbortController()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** Creates a reader of the changes whose keys start with `prefix`. */
  constructor(store: Store, prefix: string) {
    this.#store = store
    this.#prefix = prefix
  }

  /** Returns one chunk of changes after a revision. The store must already have reached the later revision `until`. */
  async read(after: Revision, until: Revision): Promise<LogChunk> {
    const cachedChunk = this.#find(after)
    if (cachedChunk !== undefined) return cachedChunk
    const reading = this.#reading.get(after) ?? this.#fetch(after, until).finally(() => this.#reading.delete(after))
    this.#reading.set(after, reading)
    return await reading
  }

  /** Aborts all reads of the log. */
  close(): void {
    this.#stop.abort()
    this.#forget()
  }

  #find(after: Revision): LogChunk | undefined {
    for (const piece of this.#cachedChunks) {
      if (piece.after > after || piece.through <= after) continue
      this.#cachedChunks.delete(piece)
      this.#cachedChunks.add(piece)
      return piece
    }
    return undefined
  }

  async #fetch(after: Revision, until: Revision): Promise<LogChunk> {
    const { signal } = this.#stop
    for await (const { changes, through } of this.#store.watch({ prefix: this.#prefix, after, until, signal })) {
      const pieces = [...inPieces(after, through, changes)]
      // Adds the chunks in reverse order, so that the first chunk, which readers need first, is evicted last.
      for (const piece of pieces.toReversed()) this.#keep(piece)
      return pieces[0]!
    }
    throw new StoreError('the store log ended before the requested revision')
  }

  #keep(piece: LogChunk): void {
    this.#cachedChunks.add(piece)
    this.#bytes += piece.bytes
    for (const oldest of this.#cachedChunks) {
      if (this.#bytes <= maxKeptBytes || oldest === piece) break
      this.#cachedChunks.delete(oldest)
      this.#bytes -= oldest.bytes
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#forget(), keptMs).unref()
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#cachedChunks.clear()
    this.#bytes = 0
  }
}

/** Splits changes into one or more chunks. Changes of the same revision stay together. */
function* inPieces(after: Revision, through: Revision, changes: readonly Change[]): Generator<LogChunk> {
  let start = 0
  let from = after
  let bytes = 0
  for (let i = 0; i < changes.length - 1; i++) {
    const { revision } = changes[i]!
    bytes += weight(changes[i]!)
    if (bytes < pieceBytes || changes[i + 1]!.revision === revision) continue
    yield new LogChunk(from, revision, changes.slice(start, i + 1))
    start = i + 1
    from = revision
    bytes = 0
  }
  yield new LogChunk(from, through, changes.slice(start))
}

function weight({ key, value, previous }: Change): number {
  return key.length + (value?.length ?? 0) + (previous?.value.length ?? 0)
}
