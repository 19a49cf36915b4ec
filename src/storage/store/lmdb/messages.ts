/**
 * The messages between the store and its thread. The reply to a read arrives after the replies to all commits that the
 * read could include. Stores of other threads (`worker-store.ts`) use the same messages on their own ports. They
 * receive the changes of all commits as broadcasts, before any reply that could include these changes.
 *
 * Packed blocks contain the following fields, record by record:
 *
 * - commit request: expected, deletes (0 or 1), due time (0: no expiry), key, value with eight bytes of headroom for
 *   the revision, the number of guards, and for each its revision and key, the number of keys to reserve and for each
 *   its key and its value with headroom, the number of keys to release and these keys, the time of the note (0: none)
 *   and its text
 * - commit reply: revision (0: conflict, -1: no room), the previous revision (0: none), the previous value with its
 *   headroom; if written: for each key to release the previous revision (0: none) and the previous value with its
 *   headroom
 * - list slice: revision, key, value
 * - log slice: revision, deletes (0 or 1), key, previous revision, previous value, value
 * - journal slice: revision, deleted (0 or 1), time of the note (0: none), its text, whether there is a value (0 or 1),
 *   the value
 * - expiry step: the deleted keys, as a log slice; no block if nothing was due
 */
import type { MessagePort } from 'node:worker_threads'
import type { Key, Revision } from '../store.ts'

/** A request to the thread. `open` is the first request and is sent once. */
export type Request =
  | OpenRequest
  | CommitRequest
  | { readonly type: 'get'; readonly id: number; readonly key: Key }
  | { readonly type: 'list'; readonly id: number; readonly range: SliceRange; readonly limit: number }
  | { readonly type: 'count'; readonly id: number; readonly range: SliceRange }
  | { readonly type: 'log'; readonly id: number; readonly after: Revision; readonly limit: number }
  | {
      readonly type: 'journalChanges'
      readonly id: number
      readonly key: Key
      readonly before: Revision
      readonly limit: number
    }
  | { readonly type: 'when'; readonly id: number; readonly time: number }
  | CompactRequest
  | { readonly type: 'expire'; readonly id: number; readonly now: number }
  | AttachRequest
  | PinRequest
  | { readonly type: 'close'; readonly id: number }

/** Settings for checking the pages of a data file while the file is in use. */
export interface BackgroundCheckOptions {
  /**
   * Minimum size in bytes of a file that is checked while it is in use. A smaller file is checked before it is opened,
   * which is faster than starting a thread.
   */
  readonly above: number
  /** Delay in milliseconds after the file is opened, so that the check does not slow down startup. */
  readonly delayMs: number
}

export interface OpenRequest {
  readonly type: 'open'
  readonly id: number
  readonly directory: string
  /**
   * Settings for checking pages while the file is in use. If undefined, all pages are checked before the file is
   * opened.
   */
  readonly backgroundCheck: BackgroundCheckOptions | undefined
}

/** Connects the store of another thread, using its port and the memory of the SharedRevisions. */
export interface AttachRequest {
  readonly type: 'attach'
  readonly id: number
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
}

/** The oldest state that can still be read, at the start of the history window or of the journal. */
export type Reach = 'history' | 'journal'

/**
 * Pins a revision while it is being read, or unpins it afterward. The reply reports whether the revision can be read.
 */
export interface PinRequest {
  readonly type: 'pin' | 'unpin'
  readonly id: number
  readonly revision: Revision
  readonly reach: Reach
}

export interface CompactRequest {
  readonly type: 'compact'
  readonly id: number
  readonly oldest: Revision
  /**
   * Changes are deleted up to this revision, which is lower than `oldest` while a reader still uses older revisions.
   */
  readonly upTo: Revision
  /** The retention limits of the journal. Undefined if there is no journal. */
  readonly journal: JournalBounds | undefined
}

/** Limits for the changes that the log retains for the journal after they have left the history window. */
export interface JournalBounds {
  /** The wall-clock time since which the journal has retained all changes. */
  readonly since: number
  readonly bytes: number
  readonly withoutValues: readonly string[]
}

export interface CommitRequest {
  readonly type: 'commit'
  readonly id: number
  readonly writes: ArrayBuffer
}

/** The rest of a list: the keys that start with `prefix` and come after `after`, as of `revision`. */
export interface SliceRange {
  readonly prefix: string
  readonly after: Key | undefined
  readonly revision: Revision
}

export interface OpenReply {
  readonly revision: Revision
  readonly oldest: Revision
  /** The oldest revision that the journal can list. */
  readonly floor: Revision
}

/** A slice of a list. The list continues after the key `resume`, which is undefined at the end of the range. */
export interface ListReply {
  readonly entries: ArrayBuffer
  readonly resume: Key | undefined
}

export interface CountReply {
  readonly count: number
  readonly resume: Key | undefined
}

export interface CompactReply {
  readonly more: boolean
  /** The oldest revision that the journal can list. */
  readonly floor: Revision
}

/** The newest revision at the requested time. Undefined if the time is before the start of the journal. */
export interface WhenReply {
  readonly revision: Revision | undefined
}

export interface PinReply {
  readonly readable: boolean
}

/** Changes that stores of other threads receive without a request, packed as a log slice. */
export interface Broadcast {
  readonly changes: SharedArrayBuffer
}

export interface Failure {
  /**
   * The kind of a write failure. `full` means that there is no space, but that the store can still write when there is
   * space again. `failed` means that the disk rejected a write or a sync, and that the store can no longer write.
   * `damaged` means that the data file is damaged, and that the store can no longer write.
   */
  readonly kind: 'full' | 'failed' | 'damaged' | 'error'
  readonly message: string
  /** Whether the failed request may have taken effect. */
  readonly ambiguous: boolean
  /** Whether the thread stops permanently after this message (`damaged-memory.ts`) and will not respond anymore. */
  readonly last?: boolean
}

/**
 * The reply to a request. `result` is an ArrayBuffer or one of the reply types above, depending on the request. The
 * reply to `open` has the ID 0. `cut` is set if keys were deleted without a log record for lack of space. In that case,
 * no revision before `cut` can be read.
 */
export type Reply =
  | { readonly id: number; readonly result: unknown; readonly cut?: Revision | undefined }
  | { readonly id: number; readonly failure: Failure }
