/** Defines the context of a server that is one of several workers in its process (`--workers`). */

import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { WorkerConnections } from '../../apiserver/transport/worker-evictions.ts'
import type { Exposing } from '../../base/telemetry/exposition.ts'
import type { Metric } from '../../base/telemetry/metrics.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { Sharing } from '../../storage/cache/shared-blocks.ts'
import type { ChangePort } from '../../storage/store/etcd/relay.ts'
import type { StorePort } from '../../storage/store/lmdb/worker-store.ts'

/** The position of a worker among the workers of its process, and the resources that they share. */
export interface WorkerContext {
  /** Index of the worker, starting at 0. */
  readonly index: number
  readonly store: StoreAccess
  /** The version that the first worker emulates. Undefined for the first worker, which determines the version. */
  readonly emulatedVersion: EmulatedVersion | undefined
  /** Whether this worker is the first to listen on the port. If so, it checks that the port is free. */
  readonly isAlone: boolean
  /** Shared memory for the bytes of cached objects, so that the workers together store each object only once. */
  readonly sharing: Sharing
  /** Counters that enforce limits across all workers. */
  readonly limits: SharedLimits
  /** Shared memory and channel that workers use to count and evict connections. */
  readonly counting: WorkerConnections
  /**
   * Adds the simulated nodes of all other workers to the nodes of this worker, and sends its own nodes to the other
   * workers.
   */
  shareNodes(local: LocalNodes): void
  /** Returns a page with the metrics of all workers. `metrics` are the metrics of this worker. */
  exposing(metrics: readonly Metric[]): Exposing
  /** Must be called when the worker has stopped listening. Resolves when all workers have stopped listening. */
  allStoppedListening(): Promise<void>
}

/** Memory in which all workers count limits. It can be posted to a thread. */
export interface SharedLimits {
  /** An array with one element: the number of workers among which limits are divided. */
  readonly count: Int32Array
  /** Memory for rate limits (`base/limits/rate-buckets.ts`). */
  readonly rates: SharedArrayBuffer
  /** Number of backups that each worker is running (`base/limits/shared-count.ts`). */
  readonly backups: Int32Array
  /** Memory for connection counts (`apiserver/transport/connection-counts.ts`). */
  readonly connections: SharedArrayBuffer
}

/**
 * Returns a function that returns the current number of workers, among which some limits are divided. With
 * `--workers=auto`, the number can change.
 */
export function countWorkers(worker: WorkerContext | undefined): () => number {
  return worker === undefined ? () => 1 : () => Atomics.load(worker.limits.count, 0)
}

/** How a worker accesses the shared store. */
export type StoreAccess =
  | { readonly type: 'embedded'; readonly access: StorePort }
  | { readonly type: 'etcd'; readonly access: ChangePort }

/**
 * Whether this server performs the duties that exist once per process. The first worker performs these duties. Without
 * workers, the server itself performs them.
 */
export function hasDuties(worker: WorkerContext | undefined): boolean {
  return worker === undefined || worker.index === 0
}

const minute = 60_000

/**
 * Returns the interval in milliseconds at which certificates are checked. Workers check at different times, so that the
 * first worker renews a certificate and the others find the new one.
 */
export function renewalPeriod(worker: WorkerContext | undefined): number {
  return (60 + (worker?.index ?? 0)) * minute
}
