/**
 * The store contract: keys, bytes and revisions. The store knows nothing about resource kinds.
 *
 * Every backend (memory, lmdb, etcd) provides the following guarantees. `test/storage/store/suite.ts` and its parts in
 * `suite/` verify them for each backend.
 *
 * - Durable: a commit resolves only after it is durable. Until then it is invisible to every reader.
 * - Ordered: each commit gets the next revision. Revisions strictly increase and are never reused, not even after a
 *   restart.
 * - Compare-and-set: a commit names the revision that it replaces. If multiple commits name the same revision, at most
 *   one succeeds. A commit can also require other keys to be unchanged, or only to exist (guards).
 * - Reservations: a commit can reserve keys that are free and release others, atomically. Two commits never reserve the
 *   same key.
 * - Linearizable: `revision()` is at least the revision of every commit acknowledged before the call.
 * - Snapshots: `list` at a revision returns the exact state at that revision, if the revision is in the history window.
 * - Watches: `watch(N)` yields every change after N exactly once, in revision order and without gaps, or throws
 *   RevisionGone.
 * - Progress: a call to `revision()` makes every watch eventually report that it has passed all revisions that any
 *   server on the store had returned before the call, even if no watched key changed.
 * - Lifetimes: the store deletes a key with a lifetime after the lifetime expires. The deletion has its own revision,
 *   and watches report it like any other change. Lifetimes survive restarts.
 *
 * Byte arrays are shared, not copied: neither caller nor store modifies them after the call.
 *
 * All comments use the following words for old revisions:
 *
 * - log: the committed changes in revision order, as the backend stores them. Watches and lists of old revisions read
 *   the log.
 * - log tail: the newest part of the log, cached in memory (`log-tail.ts`).
 * - history window: the revisions that `list` and `watch` accept, from the oldest retained one to the newest.
 *   Compaction moves the start of the window forward and deletes older changes from the log.
 * - event buffer: the latest events of one kind in its cache (`cache/kind-cache.ts`). If a watch starts before the
 *   buffer, it reads the log.
 * - journal: the changes with their notes, which outlive the history window. The journal is bounded by age and size,
 *   not by compaction.
 */

/** A key, ordered by its UTF-8 bytes. Keys are not empty, contain no NUL, and encode to at most `maxKeyBytes` bytes. */
export type Key = string
/** The number of a commit. Each commit of the store has its own revision. */
export type Revision = number
export type Bytes = Uint8Array

/** The maximum key length that every backend supports: the limit of LMDB minus the bytes that its tables add. */
export const maxKeyBytes = 1024

/** The maximum lifetime, which is about 30 years. Data that must exist longer must be written without a lifetime. */
export const maxLifetimeSeconds = 1_000_000_000

/** A key, its bytes and the revision that wrote them. */
export interface Entry {
  readonly key: Key
  /** The revision of the commit that wrote the value. */
  readonly revision: Revision
  readonly value: Bytes
}

/** A change to one key, with its preconditions. */
export interface Write {
  readonly key: Key
  /** The current revision that the key must have. 0 means that the key must be absent. */
  readonly expected: Revision
  /** The new value. If undefined, the key is deleted. In that case, `expected` must not be 0. */
  readonly value: Bytes | undefined
  readonly guards?: readonly Guard[] | undefined
  /**
   * Keys to reserve in the same transaction. If any of them exists, the commit is a conflict. Together, `reserves` and
   * `releases` contain at most `maxReservedKeys` keys, without duplicates.
   */
  readonly reserves?: readonly ReservedKey[] | undefined
  /** Keys to delete in the same transaction. Absent keys are ignored. */
  readonly releases?: readonly Key[] | undefined
  /**
   * Whether the bytes of the write are unique among all writes. If they are, the stored value shows whether the write
   * happened even if the response is lost.
   */
  readonly unique?: boolean | undefined
  /**
   * Lifetime in whole seconds, counted from the call, from 1 to `maxLifetimeSeconds`. Undefined means that the key does
   * not expire. Each commit replaces the lifetime that an earlier commit set for the key. The store usually deletes the
   * key within five seconds of its expiry. The deletion can be delayed if the store was down, if very many keys expire
   * at the same time, or if etcd has changed its leader, which restarts all lifetimes.
   */
  readonly lifetimeSeconds?: number | undefined
  /** A note that the journal stores with the change. Ignored if the store has no journal. */
  readonly note?: Note | undefined
}

/** A writer's note about a change, which the journal stores. The store does not interpret the text of the note. */
export interface Note {
  /** Wall-clock time of the change in milliseconds since 1970. */
  readonly time: number
  /** The text of the note. Its length is at most `maxNoteBytes`. */
  readonly text: Bytes
}

/** Maximum length of a note's text in bytes. */
export const maxNoteBytes = 4096

/**
 * Maximum number of keys that a write can reserve and release together. The limit follows from the size of an etcd
 * transaction.
 */
export const maxReservedKeys = 2000

/** A key that a write reserves. Its value, a few hundred bytes, names the owner and the reason for the reservation. */
export interface ReservedKey {
  readonly key: Key
  readonly value: Bytes
}

/**
 * A precondition on another key. The write happens only if that key has the given revision. 0 means that the key must
 * be absent, and `present` means that the key must exist, at any revision.
 */
export interface Guard {
  readonly key: Key
  readonly revision: Revision | 'present'
}

export interface Committed {
  readonly outcome: 'committed'
  /** The revision of the written key. Reserved and released keys may have lower revisions. */
  readonly revision: Revision
}

/**
 * The result of a commit that did not happen because the key was not at the revision `expected`, a guard was not met,
 * or a key to reserve already existed. `current` is the entry of the key at the time of the commit. Undefined means
 * that the key was absent.
 */
export interface Conflict {
  readonly outcome: 'conflict'
  readonly current: Entry | undefined
}

/** A committed change to one key. */
export interface Change {
  readonly key: Key
  readonly revision: Revision
  /** The new value. Undefined means that the key was deleted. */
  readonly value: Bytes | undefined
  /** The entry that the change replaced. Undefined means that the key was absent. */
  readonly previous: Entry | undefined
}

/** One batch of changes from a watch. */
export interface Batch {
  /** The changes in revision order. The list is empty if the batch reports only progress. */
  readonly changes: readonly Change[]
  /** The watch has reported every change up to this revision. */
  readonly through: Revision
}

/** The keys and the revision to list. */
export interface ListRange {
  /** The prefix of the selected keys. */
  readonly prefix: string
  /** Selects only keys that come after this key. */
  readonly after?: Key
  /** Maximum number of entries. Undefined means no limit. */
  readonly limit?: number
  /** The revision to list. Undefined means the most recent revision. */
  readonly revision?: Revision
  /**
   * Whether `remaining` must be exact. If false, a positive number means only that more keys follow, which avoids the
   * cost of counting them.
   */
  readonly count?: boolean
}

/** The state of the store at one revision. */
export interface Snapshot {
  /** The revision of the listed state. */
  readonly revision: Revision
  /** The entries, sorted by key. */
  readonly entries: readonly Entry[]
  /** Number of keys in the range after the last entry. Always 0 if `limit` did not shorten the list. */
  readonly remaining: number
}

export interface WatchOptions {
  readonly prefix: string
  /** The watch starts after this revision. All changes have a strictly greater revision. */
  readonly after: Revision
  /** The last revision that the watch reports. Undefined means that the watch continues until it is aborted. */
  readonly until?: Revision
  readonly signal: AbortSignal
}

/** A store of keys, bytes and revisions. All backends provide the same guarantees. */
export interface Store {
  /**
   * Writes `value` under `key` at the next revision if the key's revision is still `expected`.
   * Returns a Conflict if another write came first. Throws StoreError only if the store itself failed. The write did
   * not happen unless the error is marked `ambiguous`.
   */
  commit(write: Write): Promise<Committed | Conflict>

  /**
   * Returns the most recent revision. The read is linearizable. If the revision is already known, the method returns it
   * synchronously. A new store has a revision of at least 1.
   */
  revision(): Revision | Promise<Revision>

  /** Returns the most recent entry of a key. The read is linearizable. */
  get(key: Key): Promise<Entry | undefined>

  /**
   * Returns an exact snapshot of a range. Throws RevisionGone if the revision is before the history window, and
   * RevisionAhead if it is above `revision()`.
   */
  list(range: ListRange): Promise<Snapshot>

  /**
   * Yields the changes after a revision, in batches with increasing `through`. The iteration ends when `signal` aborts
   * or `until` is reached. Throws RevisionGone if `after` is before the history window. A slow reader can also receive
   * this error during the iteration. After any other StoreError, the reader can resume from the last revision that it
   * received.
   */
  watch(options: WatchOptions): AsyncIterable<Batch>

  /** The journal, whose changes outlive the history window. Undefined if the store has no journal. */
  readonly journal?: Journal | undefined

  /**
   * Returns the size in bytes of the external database that contains this store. Undefined if the store has its own
   * database.
   */
  size?(): Promise<number>

  /** Compacts the store, so that `revision` becomes the start of the history window. */
  compact(revision: Revision): Promise<void>

  /** Ends all watches and releases all resources. Commits in progress are finished or rejected. */
  close(): Promise<void>
}

/** A change to one key, as recorded in the journal. */
export interface JournalChange {
  readonly revision: Revision
  /**
   * The new value. Undefined if the key was deleted or the journal omits the value. `deleted` distinguishes the two
   * cases.
   */
  readonly value: Bytes | undefined
  readonly deleted: boolean
  /**
   * The writer's note. Undefined if the writer provided no note, or if the change was made before the journal started.
   */
  readonly note: Note | undefined
}

/**
 * The journal of a store: changes with their notes. The journal survives restarts and compaction, and its age and size
 * are limited. The oldest changes are dropped first. If the disk is full, the journal is truncated to free space for
 * new data.
 */
export interface Journal {
  /**
   * Returns changes to a key before a revision, newest first. Returns at most `limit` changes, and at least one if any
   * exist.
   */
  changes(key: Key, before: Revision, limit: number): Promise<readonly JournalChange[]>

  /**
   * Lists a range like the store's `list`, but at any revision since `oldest()`. Values that are missing from the
   * journal are empty.
   */
  list(range: ListRange & { readonly revision: Revision }): Promise<Snapshot>

  /**
   * Returns the newest revision at a given time, according to the writers' clocks. Returns undefined if the time is
   * before the start of the journal.
   */
  revisionAt(time: number): Promise<Revision | undefined>

  /** Returns the oldest revision that the journal can list. */
  oldest(): Promise<Revision>

  /** Deletes all changes before the history window. */
  forget(): Promise<void>
}

/** Limits on the age and size of the journal. */
export interface Retention {
  /** Maximum age of changes in milliseconds. The value 0 disables the journal. */
  readonly time: number
  readonly bytes: number
  /**
   * Prefixes of keys whose replaced values are dropped when they are compacted. The notes of these keys are retained.
   */
  readonly withoutValues: readonly string[]
}

/** Thrown if the store fails for a reason that the caller did not cause. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError'
  /** Whether the write may have happened or may still happen, because its response was lost. */
  readonly ambiguous: boolean

  constructor(message: string, options: ErrorOptions & { ambiguous?: boolean } = {}) {
    super(message, options)
    this.ambiguous = options.ambiguous ?? false
  }
}

/** Thrown if the data file is damaged. The only remedy is to restore a backup. */
export class StoreDamaged extends StoreError {
  override readonly name: string = 'StoreDamaged'
}

/** Thrown if the revision is before the history window. */
export class RevisionGone extends StoreError {
  override readonly name: string = 'RevisionGone'
  readonly revision: Revision
  readonly oldest: Revision

  constructor(
    revision: Revision,
    oldest: Revision,
    message = `revision ${revision} is gone; the oldest available is ${oldest}`,
  ) {
    super(message)
    this.revision = revision
    this.oldest = oldest
  }
}

/**
 * Thrown if the store has gone back in time, for example because it was restored from a backup. All data read from the
 * store up to `revision` is invalid. All data read after the restore has higher revisions.
 */
export class StoreRestored extends RevisionGone {
  override readonly name = 'StoreRestored'
}

/** Thrown if the store has not reached the revision yet. */
export class RevisionAhead extends StoreError {
  override readonly name = 'RevisionAhead'
  readonly revision: Revision
  readonly current: Revision

  constructor(revision: Revision, current: Revision) {
    super(`revision ${revision} is ahead of the store, which is at ${current}`)
    this.revision = revision
    this.current = current
  }
}

/** Thrown if the value exceeds this backend's size limit. */
export class ValueTooLarge extends StoreError {
  override readonly name = 'ValueTooLarge'
  readonly limit: number

  constructor(size: number, limit: number) {
    super(`a value of ${size} bytes exceeds the store's limit of ${limit}`)
    this.limit = limit
  }
}

/** Thrown if the device is full. The store then rejects writes but still serves reads and deletes. */
export class StoreFull extends StoreError {
  override readonly name = 'StoreFull'
}
