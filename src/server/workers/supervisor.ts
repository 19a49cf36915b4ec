/**
 * The main thread of a server with several workers. It opens the shared store, starts and stops the workers, restarts
 * workers that exit or hang, and combines their metrics. The first worker or its replacement performs the duties that
 * exist once per server. With a fixed number of workers, the main thread serves no requests. With `--workers=auto`, the
 * first worker runs in the main thread, and others are added and retired (`team.ts`).
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
import { choosePort } from '../assembly/listener.ts'
import type { ServerCommand, ServerCommandLine } from '../flags/command-line.ts'
import type { ServerOptions } from '../flags/options.ts'
import { MainWorker } from './main-worker.ts'
import { SharedNodes } from './shared-nodes.ts'
import { openSharedStore, type SharedStore, type SharedStoreDependencies } from './shared-store.ts'
import { type SharedVersion, Slot, type WorkerSlot } from './slot.ts'
import { defaultScaling, Team, type TeamParts, type TeamScaling } from './team.ts'
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
  /** Secrets for verifying the console's sign-in links and sessions, if any. */
  readonly console: ConsoleSecrets | undefined
}

/** Time in milliseconds that a worker may take to exit after its grace period. */
const endMs = 5_000

export interface SupervisorContext {
  readonly log: Log
  /** Aborts when the server is about to stop. */
  readonly stopping: AbortSignal
  /** Thresholds for `--workers=auto`. Tests use other values. */
  readonly scaling?: TeamScaling
}

/**
 * Starts the server. Resolves when all workers accept requests or, with `--workers=auto`, when the first worker accepts
 * requests.
 */
export async function startSupervisor(
  line: ServerCommandLine,
  givenFlags: GivenFlags,
  { log, stopping, scaling = defaultScaling() }: SupervisorContext,
): Promise<Supervisor> {
  const { options } = line
  const { workers } = options
  const maxWorkers = workers === 'auto' ? scaling.maxWorkers : workers
  if (workers !== 'auto') warnOfManyWorkers(workers, log)
  const port = await choosePort(options)
  const failed = Promise.withResolvers<StoreError>()
  const shared = await openBehindPort({ ...options, securePort: port }, { onFailed: failed.resolve, log, stopping })
  const limits = {
    count: sharedNumber(workers === 'auto' ? 1 : workers),
    rates: newBucketMemory(),
    backups: new Int32Array(new SharedArrayBuffer(4 * maxWorkers)),
    connections: countingMemory(maxWorkers),
  }
  const version: SharedVersion = { settled: undefined }
  const together = { metrics: new WorkerMetrics(), nodes: new SharedNodes(), channel: randomUUID(), limits, version }
  const common = { port, console: givenFlags.console, shared, log, ...together }
  const newSlot = (index: number) => new Slot({ ...givenFlags, ...common, index })
  const group =
    workers === 'auto'
      ? varyingGroup({
          first: new MainWorker({ ...common, line, onFailed: failed.resolve }),
          newSlot,
          scaling,
          limits,
          log,
        })
      : fixedGroup(Array.from({ length: workers }, (_, index) => newSlot(index)))
  stopping.addEventListener('abort', () => {
    for (const slot of group.all()) slot.announceStop()
  })
  const end = async () => {
    group.stopScaling()
    await Promise.race([stopAll(group.all()), pause(options.shutdownGrace + endMs)])
    await Promise.all(group.all().map((slot) => slot.terminate()))
    await shared.close()
  }
  // Stop only once, because a signal may arrive while the server is already stopping.
  let ending: Promise<void> | undefined
  const stop = () => {
    ending ??= end()
    return ending
  }
  try {
    return { url: await group.start(), failed: failed.promise, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The workers of a server, fixed in number or scaled automatically. */
interface WorkerGroup {
  /** Resolves to the URL of the server once it accepts requests. */
  start(): Promise<string>
  all(): readonly WorkerSlot[]
  /** Stops adding and retiring workers. */
  stopScaling(): void
}

function fixedGroup(slots: readonly Slot[]): WorkerGroup {
  return { start: () => startAll(slots), all: () => slots, stopScaling: () => {} }
}

function varyingGroup(parts: TeamParts): WorkerGroup {
  const team = new Team(parts)
  return {
    start: async () => {
      const url = await parts.first.start()
      team.start()
      return url
    },
    all: () => team.all,
    stopScaling: () => team.stop(),
  }
}

/** Opens the store. With a grace period, a port is open in the meantime, and the server is alive but not ready. */
async function openBehindPort(options: ServerOptions, dependencies: SharedStoreDependencies): Promise<SharedStore> {
  await using opened = new AsyncDisposableStack()
  const startTime = systemClock.monotonic()
  const { log } = dependencies
  await openWaitingPort(options, { startTime, clock: systemClock, log, opened })
  return await openSharedStore(options, dependencies)
}

/**
 * Starts the workers. The first worker starts alone, because the others rely on objects that it creates. Returns the
 * URL of the server.
 */
async function startAll([first, ...others]: readonly Slot[]): Promise<string> {
  // Let the other threads load their modules while the first worker is starting.
  const loading = others.map((slot) => slot.prepare())
  const url = await first!.start()
  await Promise.all(loading)
  await Promise.all(others.map((slot) => slot.start()))
  return url
}

/**
 * Stops the workers. All of them stop listening before any of them closes a connection, because clients reconnect
 * immediately.
 */
async function stopAll(slots: readonly WorkerSlot[]): Promise<void> {
  await Promise.all(slots.map((slot) => slot.stop()))
  await Promise.all(slots.map((slot) => slot.drain()))
}

function sharedNumber(value: number): Int32Array {
  const number = new Int32Array(new SharedArrayBuffer(4))
  number[0] = value
  return number
}

function warnOfManyWorkers(workers: number, log: Log): void {
  const cores = availableParallelism()
  if (workers > cores)
    log.warn(`--workers=${workers} exceeds the ${cores} CPU cores of this machine, so the workers compete for CPU`)
}
