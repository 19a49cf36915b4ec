/**
 * The store contract: keys, bytes and revisions, never kinds.
 *
 * Every backend (memory, lmdb, etcd) keeps these promises, and `test/storage/store/suite.ts` (its parts in `suite/`) proves them on each:
 *  - Durable: a commit resolves when it is durable and not before; until then nobody can see it.
 *  - Ordered: each commit gets the next revision; revisions rise strictly and are never reused, not by a restart either.
 *  - Compare-and-set: a commit names the revision it replaces; of several that name the same one, at most one wins. It
 *    may name revisions of other keys that it rests on: none of them has changed when it happens. It may also rest on
 *    keys that are merely there.
 *  - Claims: a commit may take keys that nobody holds and release others, all of it or nothing. Two commits never take
 *    the same key.
 *  - Linearizable: `revision()` is at least the revision of every commit acknowledged before the call.
 *  - Snapshots: `list` at a revision is the exact state at that revision, for as long as history is kept.
 *  - Watches: `watch(N)` yields every change after N once, in revision order, with no gap, or throws RevisionGone.
 *  - Progress: once `revision()` has resolved, every watch will report that it has passed whatever revision any server
 *    on the store had named before the call, even if nothing that it watches changed there.
 *  - Lifetimes: a key written with a lifetime is deleted by the store itself when that is over, at a revision of its own
 *    and reported to watches like any other change. Restarts do not lose lifetimes.
 *
 * Bytes handed in or out are shared, not copied: nobody changes them after the call.
 */

/** A key orders by its UTF-8 bytes. Keys are non-empty, hold no NUL, and encode to at most `maxKeyBytes` bytes. */
export type Key = string
/** Counts the commits of the store; each has a number of its own. */
export type Revision = number
export type Bytes = Uint8Array

/** The longest key every backend can hold (lmdb's limit less what its tables add). */
export const maxKeyBytes = 1024

/** Some thirty years: what is to stay longer has no lifetime. */
export const maxLifetimeSeconds = 1_000_000_000

/** A key, its bytes and the revision at which they were written. */
export interface Entry {
  readonly key: Key
  /** The revision of the commit that wrote this value. */
  readonly revision: Revision
  readonly value: Bytes
}

/** A change of one key, with the conditions under which it happens. */
export interface Write {
  readonly key: Key
  /** The revision that the key must have now; 0: the key must be absent. */
  readonly expected: Revision
  /** The new value; undefined deletes the key (and `expected` must not be 0). */
  readonly value: Bytes | undefined
  readonly guards?: readonly Guard[] | undefined
  /**
   * Keys that come into being in the same step. All of them must be absent, else it is a conflict. With `releases` at
   * most `maxClaims`, and no key twice.
   */
  readonly takes?: readonly Taken[] | undefined
  /** Keys that are deleted in the same step, where they are there. */
  readonly releases?: readonly Key[] | undefined
  /** No other write, of anybody at any time, has these bytes: a lost answer can be recognized by them. */
  readonly unique?: boolean | undefined
  /**
   * The key goes by itself some time after so many whole seconds (1 to `maxLifetimeSeconds`) from the call; absent: it
   * stays. Each commit decides anew: what an earlier one said of the key does not count any more.
   * As a rule it goes within five seconds of its time. It may be later: where the store was down, where very many are
   * due at once, and on etcd after a change of its leader, which gives all lifetimes their full length again.
   */
  readonly lifetimeSeconds?: number | undefined
  /** Kept with the change in the journal, where the store has one. */
  readonly note?: Note | undefined
}

/** What a writer leaves in the journal about a change; what the text means is for writers to know. */
export interface Note {
  /** The wall clock in milliseconds. */
  readonly time: number
  /** At most `maxNoteBytes`. */
  readonly text: Bytes
}

/** The longest text of a note. */
export const maxNoteBytes = 4096

/** How many keys a write may take and release at most: what fits a transaction of etcd. */
export const maxClaims = 2000

/** A key that a write takes, and what it says of who holds it and why: some hundred bytes. */
export interface Taken {
  readonly key: Key
  readonly value: Bytes
}

/**
 * A key that a write rests on: it is written only if that one is at this revision too; 0: is absent; `present`: is there,
 * at whichever revision.
 */
export interface Guard {
  readonly key: Key
  readonly revision: Revision | 'present'
}

export interface Committed {
  readonly outcome: 'committed'
  /** That of the key. What was taken and released may have lower ones of its own. */
  readonly revision: Revision
}

/**
 * The key was not at `expected`, or else a guard was not at its revision or a key to be taken was there. `current` is
 * what the key held (undefined: nothing) at the time of the commit.
 */
export interface Conflict {
  readonly outcome: 'conflict'
  readonly current: Entry | undefined
}

/** What happened to one key. */
export interface Change {
  readonly key: Key
  readonly revision: Revision
  /** The value written; undefined: the key was deleted. */
  readonly value: Bytes | undefined
  /** What the key held before; undefined: nothing. */
  readonly previous: Entry | undefined
}

/** A step of a watch. */
export interface Batch {
  /** In revision order; none: only progress is reported. */
  readonly changes: readonly Change[]
  /** Every change up to this revision has been reported. */
  readonly through: Revision
}

/** Which keys a list returns, and as of when. */
export interface ListRange {
  /** Every key that starts with this string. */
  readonly prefix: string
  /** Only keys strictly after this one. */
  readonly after?: Key
  /** At most this many entries; absent: all. */
  readonly limit?: number
  /** The state at this revision; absent: the most recent. */
  readonly revision?: Revision
  /** False: `remaining` need not be exact; any number above 0 says that there may be more. Counting costs. */
  readonly count?: boolean
}

/** The state of the store at one revision. */
export interface Snapshot {
  /** The revision whose exact state this is. */
  readonly revision: Revision
  /** In key order. */
  readonly entries: readonly Entry[]
  /** How many keys of the range come after the last entry, when `limit` cut the list; else 0. */
  readonly remaining: number
}

export interface WatchOptions {
  readonly prefix: string
  /** Yields changes with a revision strictly greater than this one. */
  readonly after: Revision
  /** Ends after the changes up to this revision; absent: goes on until aborted. */
  readonly until?: Revision
  readonly signal: AbortSignal
}

/** Keys, bytes and revisions. All drivers keep the same promises. */
export interface Store {
  /**
   * Writes `value` under `key` if the key's revision is still `expected`, at the next revision.
   * A lost race is a result, not an exception. Throws StoreError only when the store itself failed; unless the error
   * is marked `ambiguous`, the write did not happen.
   */
  commit(write: Write): Promise<Committed | Conflict>

  /**
   * The most recent revision, linearizable; at once where it is known. A fresh store is at a revision of at least 1.
   */
  revision(): Revision | Promise<Revision>

  /** The entry of one key, most recent and linearizable. */
  get(key: Key): Promise<Entry | undefined>

  /** An exact snapshot of a range. Throws RevisionGone below the kept history and RevisionAhead above `revision()`. */
  list(range: ListRange): Promise<Snapshot>

  /**
   * The changes after a revision, in batches whose `through` rises, until `signal` aborts or `until` is reached (the
   * iteration then just ends).
   * Throws RevisionGone when history no longer reaches back to `after`; this may also happen to a slow reader midway.
   * When it throws any other StoreError the reader may ask again from the last revision it saw.
   */
  watch(options: WatchOptions): AsyncIterable<Batch>

  /** The past beyond what watches and lists reach back to; undefined: the store keeps none. */
  readonly journal?: Journal | undefined

  /** How large the database of another server is that this store lies in, in bytes; absent: it lies in none. */
  size?(): Promise<number>

  /** Forgets history so that `revision` is the oldest one that can still be listed and watched from. */
  compact(revision: Revision): Promise<void>

  /** Ends all watches and releases everything. Commits still under way are finished or rejected. */
  close(): Promise<void>
}

/** A change of one key, as the journal has it. */
export interface Past {
  readonly revision: Revision
  /** What was written; undefined: the key was deleted, or the value was not kept (`deleted` says which). */
  readonly value: Bytes | undefined
  readonly deleted: boolean
  /** Undefined where the writer left none, or the change is older than the journal, which still has its value. */
  readonly note: Note | undefined
}

/**
 * The journal of a store: changes with their notes, kept for a time and up to a size, over restarts and over compaction.
 * The oldest changes go first. On a full disk the journal is given up for new data.
 */
export interface Journal {
  /** Changes of a key before a revision, newest first: at least one unless there is none, and `limit` at most. */
  changes(key: Key, before: Revision, limit: number): Promise<readonly Past[]>

  /** Like the store's `list`, for any revision from `oldest()` on. Values that were not kept are empty. */
  list(range: ListRange & { readonly revision: Revision }): Promise<Snapshot>

  /** The newest revision that had been reached at a time, by the clocks of the writers; undefined: it is too long ago. */
  revisionAt(time: number): Promise<Revision | undefined>

  /** The oldest revision whose state is known. */
  oldest(): Promise<Revision>

  /** Forgets all that watches and lists do not reach back to either. */
  forget(): Promise<void>
}

/** How long a journal is kept. */
export interface Retention {
  /** In milliseconds; 0: there is no journal. */
  readonly time: number
  readonly bytes: number
  /** Prefixes of keys whose replaced values are dropped when compaction comes to them; their notes stay. */
  readonly withoutValues: readonly string[]
}

/** The store failed; the caller did nothing wrong. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError'
  /** True when the write may have happened or may yet happen: its answer was lost, not refused. */
  readonly ambiguous: boolean

  constructor(message: string, options: ErrorOptions & { ambiguous?: boolean } = {}) {
    super(message, options)
    this.ambiguous = options.ambiguous ?? false
  }
}

/** History no longer holds what is needed to answer at this revision. */
export class RevisionGone extends StoreError {
  override readonly name: string = 'RevisionGone'
  readonly revision: Revision
  readonly oldest: Revision

  constructor(
    revision: Revision,
    oldest: Revision,
    message = `revision ${revision} is gone, the oldest kept is ${oldest}`,
  ) {
    super(message)
    this.revision = revision
    this.oldest = oldest
  }
}

/**
 * The store is not the one that it was: it went back in time, as when it is restored from a backup. Everything that was
 * read from it up to `revision` is void; what is read from now on has higher revisions.
 */
export class StoreRestored extends RevisionGone {
  override readonly name = 'StoreRestored'
}

/** The store has not reached this revision yet. */
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

/** The value is larger than this backend can take. */
export class ValueTooLarge extends StoreError {
  override readonly name = 'ValueTooLarge'
  readonly limit: number

  constructor(size: number, limit: number) {
    super(`a value of ${size} bytes is over the store's limit of ${limit}`)
    this.limit = limit
  }
}

/** No room on the device: writes are refused, reads and deletes go on. */
export class StoreFull extends StoreError {
  override readonly name = 'StoreFull'
}
