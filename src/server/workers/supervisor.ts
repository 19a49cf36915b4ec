/**
 * The main thread of a server with several workers. It opens the shared store, starts and stops the workers, restarts
 * one that exits or hangs, and sums their metrics. It serves no requests. The first worker, or its replacement, has the
 * duties that run once per server.
 */
import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { countingMemory } from '../../apiserver/transport/connection-counts.ts'
import { newBucketMemory } from '../../base/limits/rate-buckets.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { StoreError } from '../../storage/store/store.ts'
import type { ConsoleSecrets } from '../../tools/console/access.ts'
import { openWaitingPort } from '../assembly/early-port.ts'
import type { ServerCommand } from '../flags/command-line.ts'
import type { ServerOptions } from '../flags/options.ts'
import { choosePort } from './port.ts'
import { SharedNodes } from './shared-nodes.ts'
import { openSharedStore, type SharedStore, type SharedStoreDependencies } from './shared-store.ts'
import { type SharedVersion, Slot } from './slot.ts'
import { WorkerMetrics } from './worker-metrics.ts'

export interface Supervisor {
  readonly url: string
  /** Resolves with the reason when the store fails permanently. */
  readonly failed: Promise<StoreError>
  /** Stops all workers gracefully and closes the store. */
  stop(): Promise<void>
}

export interface GivenFlags {
  readonly command: ServerCommand
  readonly flags: readonly string[]
  /** Secrets with which all workers verify console sessions. */
  readonly console: ConsoleSecrets | undefined
}

/** Time that a worker may take to exit beyond its grace period. */
const endMs = 5_000

/** Resolves when all workers accept requests. */
export async function startSupervisor(
  options: ServerOptions,
  givenFlags: GivenFlags,
  { log, stopping }: { readonly log: Log; readonly stopping: AbortSignal },
): Promise<Supervisor> {
  warnOfManyWorkers(options, log)
  const port = await choosePort(options)
  const failed = Promise.withResolvers<StoreError>()
  const shared = await openBehindPort({ ...options, securePort: port }, { onFailed: failed.resolve, log, stopping })
  const limits = {
    rates: newBucketMemory(),
    backups: new Int32Array(new SharedArrayBuffer(4 * options.workers)),
    connections: countingMemory(options.workers),
  }
  const version: SharedVersion = { settled: undefined }
  const together = { metrics: new WorkerMetrics(), nodes: new SharedNodes(), channel: randomUUID(), limits, version }
  const slots = Array.from(
    { length: options.workers },
    (_, index) => new Slot({ ...givenFlags, index, port, shared, log, ...together }),
  )
  stopping.addEventListener('abort', () => {
    for (const slot of slots) slot.announceStop()
  })
  const end = async () => {
    await Promise.race([stopAll(slots), pause(options.shutdownGrace + endMs)])
    await Promise.all(slots.map((slot) => slot.terminate()))
    await shared.close()
  }
  // A signal may arrive while a failed store is already ending the server.
  let ending: Promise<void> | undefined
  const stop = () => {
    ending ??= end()
    return ending
  }
  try {
    return { url: await startAll(slots), failed: failed.promise, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** With a grace period, the port is open until the store is: the server is alive but not ready. */
async function openBehindPort(options: ServerOptions, dependencies: SharedStoreDependencies): Promise<SharedStore> {
  await using opened = new AsyncDisposableStack()
  const begun = systemClock.monotonic()
  const { log } = dependencies
  await openWaitingPort(options, { begun, clock: systemClock, log, opened })
  return await openSharedStore(options, dependencies)
}

/** Starts the first worker alone because the others rely on objects that it creates. Returns the URL of the server. */
async function startAll([first, ...others]: readonly Slot[]): Promise<string> {
  // Meanwhile the other threads load their modules.
  const loading = others.map((slot) => slot.load())
  const url = await first!.start()
  await Promise.all(loading)
  await Promise.all(others.map((slot) => slot.start()))
  return url
}

/** Clients reconnect at once, so all workers stop listening before any of them closes a connection. */
async function stopAll(slots: readonly Slot[]): Promise<void> {
  await Promise.all(slots.map((slot) => slot.stop()))
  await Promise.all(slots.map((slot) => slot.drain()))
}

function warnOfManyWorkers({ workers }: ServerOptions, log: Log): void {
  const cores = availableParallelism()
  if (workers > cores)
    log.warn(`--workers=${workers} exceeds the ${cores} CPU cores of this machine, so the workers compete for CPU`)
}
