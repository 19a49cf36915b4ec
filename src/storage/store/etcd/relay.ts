/**
 * What the thread that watches etcd for all workers (`hub.ts`) and the stores of the workers (`relayed-feed.ts`) say to each
 * other, over a port for each worker. Messages of an era come between `era` and `over`; the first that the worker sends
 * is `join`, and so is the one after an `over`.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Revision } from '../store.ts'
import type { FeedPosition } from './feed.ts'

/** What a thread needs to open the store: of `EtcdHub.connect`, to be transferred to it. */
export interface FeedPort {
  readonly port: MessagePort
}

/** Asks for an era whose revisions are all above `told`. */
export interface Join {
  readonly type: 'join'
  readonly told: Revision
}

export type Relayed =
  /** `memory`: of the SharedRevisions that all know. */
  | {
      readonly type: 'era'
      readonly offset: number
      readonly memory: SharedArrayBuffer
      readonly position: FeedPosition
    }
  /** The feed stood at `after` before. No changes: only progress is reported. */
  | {
      readonly type: 'batch'
      readonly after: Revision
      readonly through: Revision
      readonly changes: SharedArrayBuffer | undefined
    }
  /** What lies between where the feed stood and `revision` is not known: `lost` and `oldest` are of the RevisionGone. */
  | { readonly type: 'gap'; readonly revision: Revision; readonly lost: Revision; readonly oldest: Revision }
  /** etcd went back in time. */
  | { readonly type: 'over' }
