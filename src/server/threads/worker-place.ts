/** What a server is among the workers of one process (`--workers`): its number, its store, and how all are measured as one. */

import type { CountingPlace } from '../../apiserver/transport/connection-counts.ts'
import type { Exposing } from '../../base/telemetry/exposition.ts'
import type { Metric } from '../../base/telemetry/metrics.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { Sharing } from '../../storage/cache/shared-blocks.ts'
import type { FeedPort } from '../../storage/store/etcd/relay.ts'
import type { StorePort } from '../../storage/store/lmdb/worker-store.ts'

/** The index of a worker and everything that it shares with the other workers of the process. */
export interface WorkerPlace {
  /** From 0 on. */
  readonly index: number
  readonly store: StoreAccess
  /** How the bytes of objects are shared with the others. */
  readonly sharing: Sharing
  /** Where limits are counted that hold for all workers together. */
  readonly limits: SharedLimits
  /** Where the workers count their connections. */
  readonly counting: CountingPlace
  /** Completes the simulated nodes of this worker by those of all others, and tells the others of these. */
  shareNodes(local: LocalNodes): void
  /** Shows these metrics of this worker together with those of all others. */
  exposing(metrics: readonly Metric[]): Exposing
  /** To be called when this worker has stopped listening; resolves when all have. */
  allStoppedListening(): Promise<void>
}

/** Memory of all workers in which limits are counted; it can be posted to a thread. */
export interface SharedLimits {
  /** For rates (`base/limits/rate-buckets.ts`). */
  readonly rates: SharedArrayBuffer
  /** Backups that are being sent: a number for each worker (`base/limits/shared-count.ts`). */
  readonly backups: Int32Array
  /** For the numbers of connections (`apiserver/transport/connection-counts.ts`). */
  readonly connections: SharedArrayBuffer
}

/** This worker's way to the store that all share. */
export type StoreAccess =
  | { readonly type: 'embedded'; readonly access: StorePort }
  | { readonly type: 'etcd'; readonly access: FeedPort }

/** Whether this server does what is done once per process: the first worker does, and so does a server that is alone. */
export function hasDuties(worker: WorkerPlace | undefined): boolean {
  return worker === undefined || worker.index === 0
}

const minute = 60_000

/**
 * How often certificates are looked at. Workers look at different times: the first to find one due makes it anew, and the
 * others find the new one.
 */
export function renewalPeriod(worker: WorkerPlace | undefined): number {
  return (60 + (worker?.index ?? 0)) * minute
}
