/**
 * What the store and its thread say to each other. When the reply to a read arrives, the replies to all commits that
 * the read could see have arrived before it. Stores of other threads (`worker-store.ts`) speak the same on ports of their
 * own, and get the changes of all commits as broadcasts, before any reply that could show them.
 *
 * Packed blocks, record by record:
 *   commit request  expected, deletes (0 or 1), due time (0: it stays), key, value with eight bytes of headroom for the
 *                   revision, the number of guards, and of each its revision and key, the number of keys to take and
 *                   of each its key and its value with headroom, the number of keys to release and those, the time of
 *                   the note (0: none) and its text
 *   commit reply    revision (0: nothing was written, -1: nor is there room for it), the revision held before (0:
 *                   none), value held before with its headroom; of what was written: of each key to release the
 *                   revision held before (0: none) and the value held before with its headroom
 *   slice of a list revision, key, value
 *   slice of a log  revision, deletes (0 or 1), key, previous revision, previous value, value
 *   slice of the past  revision, deleted (0 or 1), time of the note (0: none), its text, whether there is a value (0 or
 *                   1), the value
 *   step of expiry  what was deleted, as a slice of a log; no block at all: nothing was due
 */
import type { MessagePort } from 'node:worker_threads'
import type { Key, Revision } from '../store.ts'

/** `open` is the first, and sent once. */
export type Request =
  | { readonly type: 'open'; readonly id: number; readonly directory: string }
  | CommitRequest
  | { readonly type: 'get'; readonly id: number; readonly key: Key }
  | { readonly type: 'list'; readonly id: number; readonly range: SliceRange; readonly limit: number }
  | { readonly type: 'count'; readonly id: number; readonly range: SliceRange }
  | { readonly type: 'log'; readonly id: number; readonly after: Revision; readonly limit: number }
  | { readonly type: 'past'; readonly id: number; readonly key: Key; readonly before: Revision; readonly limit: number }
  | { readonly type: 'when'; readonly id: number; readonly time: number }
  | CompactRequest
  | { readonly type: 'expire'; readonly id: number; readonly now: number }
  | AttachRequest
  | PinRequest
  | { readonly type: 'close'; readonly id: number }

/** Another thread's store: its port, and the memory of the SharedRevisions, the same for all of them. */
export interface AttachRequest {
  readonly type: 'attach'
  readonly id: number
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
}

/** How far back is read: as far as watches and lists reach, or as far as the journal. */
export type Reach = 'history' | 'journal'

/** Keeps a revision readable while it is read, or not any longer. The reply says whether it can be read. */
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
  /** Below `oldest` while somebody still reads there. */
  readonly upTo: Revision
  /** What the journal keeps of it; undefined: nothing. */
  readonly journal: JournalBounds | undefined
}

/** What stays in the log although watches and lists no longer reach back to it. */
export interface JournalBounds {
  /** Changes since this time, by the wall clock. */
  readonly since: number
  readonly bytes: number
  readonly withoutValues: readonly string[]
}

export interface CommitRequest {
  readonly type: 'commit'
  readonly id: number
  readonly writes: ArrayBuffer
}

/** The part of a list still to be read: keys with this prefix after `after`, as they were at `revision`. */
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

/** `resume`: read on after this key; undefined: the range ends here. */
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

/** Undefined: it is longer ago than the journal reaches back. */
export interface WhenReply {
  readonly revision: Revision | undefined
}

export interface PinReply {
  readonly readable: boolean
}

/** What the stores of other threads are sent without having asked: changes, packed as a slice of a log. */
export interface Broadcast {
  readonly changes: SharedArrayBuffer
}

export interface Failure {
  /** full: no room, go on. failed: the disk refused a write or a sync, nothing may be written any more. */
  readonly kind: 'full' | 'failed' | 'error'
  readonly message: string
  /** Nobody can say whether what was asked for happened. */
  readonly ambiguous: boolean
  /** The thread has stopped for good after this message (`damaged-memory.ts`): it will answer nothing any more. */
  readonly last?: boolean
}

/**
 * `result` is an ArrayBuffer or one of the reply types above, as the request asks. The reply to opening has id 0.
 * `cut`: for want of room keys were deleted without a record, and nothing before this revision can be read any more.
 */
export type Reply =
  | { readonly id: number; readonly result: unknown; readonly cut?: Revision | undefined }
  | { readonly id: number; readonly failure: Failure }
