/**
 * The two parts of a generation of the store (`store.ts`): the mapping of its keys and revisions to those of etcd, and
 * the feed of its events. A store in a single thread reads the offset and watches etcd itself (`local-generation.ts`).
 * In a worker, both come from the thread that watches for all workers (`relayed-feed.ts`).
 */
import type { SharedRevisions } from '../shared-revisions.ts'
import type { Revision, StoreError } from '../store.ts'
import type { Connection } from './connection.ts'
import type { Feed } from './feed.ts'
import type { KeySpace } from './key-space.ts'
import type { EtcdEvent } from './messages.ts'

export interface GenerationSource {
  /** Starts a generation whose revisions are all above `reportedRevision`. */
  begin(location: EtcdLocation, reportedRevision: Revision): Promise<GenerationParts>
  /** Whether a store with these generations runs compaction. If false, another thread runs compaction. */
  readonly compacts: boolean
  close(): void
}

export interface EtcdLocation {
  readonly connection: Connection
  readonly prefix: string
}

export interface GenerationParts {
  readonly space: KeySpace
  /**
   * State that all threads of this process share: the newest commit of any thread, and the revision up to which a
   * thread has compacted.
   */
  readonly sharedRevisions: SharedRevisions
  /** Opens the feed of the generation. Must be called once. */
  openFeed(callbacks: FeedCallbacks): FeedSource
}

/** A source that provides the changes for a feed. */
export interface FeedSource {
  readonly feed: Feed
  /** The last event that etcd reported. Undefined before the first event, or if another thread watches etcd. */
  readonly last?: EtcdEvent | undefined
  stop(reason: StoreError): Promise<void>
}

/** The callbacks of a feed. */
export interface FeedCallbacks {
  /** Reads etcd's current revision with a linearizable read, to restart the feed at this revision. */
  readonly present: () => Promise<Revision>
  /** Checks whether etcd's revision is below a revision that it reported earlier. */
  readonly isRolledBack: () => Promise<boolean>
  /** Ends the generation. Must be called when the store detects that etcd went back in time. */
  readonly onRestored: () => void
}
