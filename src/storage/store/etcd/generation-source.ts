/**
 * Declares the interface through which a store (`store.ts`) starts a generation. A generation consists of a revision
 * offset and a stream of changes. If a process has a single store, the store reads the offset and watches etcd itself
 * (`local-generation.ts`). In a worker, both come from the thread that watches etcd for all workers
 * (`relayed-changes.ts`).
 */
import type { SharedRevisions } from '../shared-revisions.ts'
import type { Revision, StoreError } from '../store.ts'
import type { ChangeStream } from './change-stream.ts'
import type { Connection } from './connection.ts'
import type { KeySpace } from './key-space.ts'
import type { EtcdEvent } from './messages.ts'

export interface GenerationSource {
  /** Starts a generation whose revisions are all above `reportedRevision`. */
  begin(location: EtcdLocation, reportedRevision: Revision): Promise<GenerationParts>
  /** Whether the store must compact its history. False in workers, because another thread compacts. */
  readonly compacts: boolean
  close(): void
}

export interface EtcdLocation {
  readonly connection: Connection
  readonly prefix: string
}

export interface GenerationParts {
  readonly space: KeySpace
  /** Revisions that all threads of this process share: those of the newest commit and of the latest compaction. */
  readonly sharedRevisions: SharedRevisions
  /** Opens the change stream of the generation. Must be called once. */
  openChanges(callbacks: ChangeSourceCallbacks): ChangeSource
}

/** Fills a change stream with the changes from etcd, directly or through another thread. */
export interface ChangeSource {
  readonly changeStream: ChangeStream
  /** The last event that etcd reported. Undefined before the first event, or if another thread watches etcd. */
  readonly last?: EtcdEvent | undefined
  stop(reason: StoreError): Promise<void>
}

/** Callbacks that a change source needs to restart after an interruption and to report a restored etcd. */
export interface ChangeSourceCallbacks {
  /** Reads etcd's current revision with a linearizable read, to restart the change stream at this revision. */
  readonly present: () => Promise<Revision>
  /** Checks whether etcd's revision is lower than a revision that etcd reported earlier. */
  readonly isRolledBack: () => Promise<boolean>
  /** Ends the generation. Must be called when the store detects that etcd has gone back in time. */
  readonly onRestored: () => void
}
