/**
 * The place of a server among the workers of its process (`--workers`): its index, its store and the combined metrics.
 */

import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { WorkerConnections } from '../../apiserver/transport/worker-evictions.ts'
import type { Exposing } from '../../base/telemetry/exposition.ts'
import type { Metric } from '../../base/telemetry/metrics.ts'
import type { LocalNodes } from '../../cluster/node-port/local-nodes.ts'
import type { Sharing } from '../../storage/cache/shared-blocks.ts'
import type { FeedPort } from '../../storage/store/etcd/relay.ts'
import type { StorePort } from '../../storage/store/lmdb/worker-store.ts'

/** The index of a worker and everything that it shares with the other workers of the process. */
export interface WorkerContext {
  /** Index from 0. */
  readonly index: number
  readonly store: StoreAccess
  /** The version that the first worker emulates. Undefined for the first worker, which settles it. */
  readonly emulatedVersion: EmulatedVersion | undefined
  /** Whether no other worker may listen on the port yet, so that the port must be free. */
  readonly isAlone: boolean
  /** How workers share the bytes of objects. */
  readonly sharing: Sharing
  /** Shared counters of limits that apply to all workers together. */
  readonly limits: SharedLimits
  /** How workers count their connections and evict some for each other. */
  readonly counting: WorkerConnections
  /** Adds the simulated nodes of all other workers to those of this one, and announces its own to them. */
  shareNodes(local: LocalNodes): void
  /** Exposes the metrics of this worker together with those of all others. */
  exposing(metrics: readonly Metric[]): Exposing
  /** Call this when the worker has stopped listening. Resolves when all workers have. */
  allStoppedListening(): Promise<void>
}

/** Shared memory of all workers that counts limits. Can be posted to a thread. */
export interface SharedLimits {
  /** Number of workers that divide the limits among them, in one element. */
  readonly count: Int32Array
  /** Memory for rate limits (`base/limits/rate-buckets.ts`). */
  readonly rates: SharedArrayBuffer
  /** Number of running backup downloads of each worker (`base/limits/shared-count.ts`). */
  readonly backups: Int32Array
  /** Memory for connection counts (`apiserver/transport/connection-counts.ts`). */
  readonly connections: SharedArrayBuffer
}

/** Returns the current number of workers, which divide some limits among them. It can change with `--workers=auto`. */
export function countWorkers(worker: WorkerContext | undefined): () => number {
  return worker === undefined ? () => 1 : () => Atomics.load(worker.limits.count, 0)
}

/** Access of a worker to the shared store. */
export type StoreAccess =
  | { readonly type: 'embedded'; readonly access: StorePort }
  | { readonly type: 'etcd'; readonly access: FeedPort }

/**
 * Whether this server has the duties that run once per process: the first worker has, and so has a server without
 * workers.
 */
export function hasDuties(worker: WorkerContext | undefined): boolean {
  return worker === undefined || worker.index === 0
}

const minute = 60_000

/**
 * Returns the interval at which certificates are checked. Workers check at different times: the first one renews a
 * certificate and the others find the new one.
 */
export function renewalPeriod(worker: WorkerContext | undefined): number {
  return (60 + (worker?.index ?? 0)) * minute
}
