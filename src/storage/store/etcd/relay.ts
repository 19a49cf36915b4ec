/**
 * The messages between the thread that watches etcd for all workers (`hub.ts`) and the workers' stores
 * (`relayed-changes.ts`). Each worker has its own port. A worker first sends `join`, and sends it again after each
 * `over`. The messages of a generation are sent between `generation` and `over`.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Revision } from '../store.ts'
import type { ChangeStreamPosition } from './change-stream.ts'

/**
 * The data that a thread needs to open the store. `EtcdHub.connect` creates the data and transfers it to the thread.
 */
export interface ChangePort {
  readonly port: MessagePort
}

/** Requests a generation whose revisions are all above `reportedRevision`. */
export interface Join {
  readonly type: 'join'
  readonly reportedRevision: Revision
}

export type Relayed =
  /** Starts a generation. `memory` belongs to the SharedRevisions of all threads. */
  | {
      readonly type: 'generation'
      readonly offset: number
      readonly memory: SharedArrayBuffer
      readonly position: ChangeStreamPosition
    }
  /**
   * A batch of changes. `after` is the position of the change stream before the batch. A batch without changes reports
   * only progress.
   */
  | {
      readonly type: 'batch'
      readonly after: Revision
      readonly through: Revision
      readonly changes: SharedArrayBuffer | undefined
    }
  /**
   * Reports that the changes between the change stream's position and `revision` are lost. `lost` and `oldest` are
   * fields of the RevisionGone error that readers receive.
   */
  | { readonly type: 'gap'; readonly revision: Revision; readonly lost: Revision; readonly oldest: Revision }
  /** Reports that etcd has gone back in time. */
  | { readonly type: 'over' }
