/** What a server is among the workers of one process (`--workers`): its number, its store, and how all are measured as one. */
import type { WorkerStoreOptions } from '../store/lmdb/worker-store.ts'
import type { Store } from '../store/store.ts'
import type { Exposing } from '../telemetry/exposition.ts'
import type { Metric } from '../telemetry/metrics.ts'

export interface WorkerPlace {
  /** From 0 on. */
  readonly index: number
  /** The store that all workers share. */
  openStore(options: WorkerStoreOptions): Promise<Store>
  /** Shows these metrics of this worker together with those of all others. */
  exposing(metrics: readonly Metric[]): Exposing
  /** To be called when this worker has stopped listening; resolves when all have. */
  allStoppedListening(): Promise<void>
}

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
