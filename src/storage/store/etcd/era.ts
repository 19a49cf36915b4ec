/**
 * What an era of the store consists of (`store.ts`): the place of its keys and revisions in etcd, and its feed. A store
 * that is alone reads the offset and watches by itself (`own-eras.ts`); in a worker both come from the thread that watches
 * for all (`relayed-feed.ts`).
 */
import type { SharedRevisions } from '../shared-revisions.ts'
import type { Revision, StoreError } from '../store.ts'
import type { Connection } from './connection.ts'
import type { Feed } from './feed.ts'
import type { KeySpace } from './key-space.ts'
import type { EtcdEvent } from './messages.ts'

export interface Eras {
  /** An era whose revisions are all above `told`. */
  begin(place: Place, told: Revision): Promise<Era>
  /** Whether a store with these eras forgets old history, or leaves that to another thread. */
  readonly compacts: boolean
  close(): void
}

export interface Place {
  readonly connection: Connection
  readonly prefix: string
}

export interface Era {
  readonly space: KeySpace
  /** What all threads of this process know: the newest commit of any of them, and how far back they have compacted. */
  readonly known: SharedRevisions
  /** To be called once. */
  openFeed(around: FeedSurroundings): FeedSource
}

/** Whatever fills a feed. */
export interface FeedSource {
  readonly feed: Feed
  /** The last event that etcd reported; undefined: none yet, or another thread knows it. */
  readonly last?: EtcdEvent | undefined
  stop(reason: StoreError): Promise<void>
}

/** What a feed is told and asks for. */
export interface FeedSurroundings {
  /** A linearizable look-up of etcd's revision, to start again from. */
  readonly present: () => Promise<Revision>
  /** Checks whether etcd's revision is below one that it has reported. */
  readonly isRolledBack: () => Promise<boolean>
  /** To be called when etcd went back in time. */
  readonly onRestored: () => void
}
