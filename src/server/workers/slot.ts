/**
 * The slot of one worker. It starts the worker's thread and restarts it if it exits or hangs. If the thread exits soon
 * after starting, it is restarted with a growing backoff.
 */

import type { EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Worker } from 'node:worker_threads'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { startThread } from '../../base/files/program-files.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import { watchHeartbeat } from '../threads/heartbeat.ts'
import type { ToSupervisor, ToWorker, WorkerData } from '../threads/messages.ts'
import type { SharedNodes } from './shared-nodes.ts'
import type { SharedStore } from './shared-store.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** Location of the worker thread's code. */
const workerProgram = { importer: import.meta.url, source: '../program/orch.ts', bundled: 'orch.cjs' }

type Given = 'index' | 'command' | 'flags' | 'port' | 'channel' | 'console' | 'limits'

export interface SlotOptions extends Pick<WorkerData, Given> {
  readonly shared: SharedStore
  readonly log: Log
  readonly metrics: WorkerMetrics
  readonly nodes: SharedNodes
  readonly version: SharedVersion
}

/** The interface through which the supervisor controls a worker. */
export interface WorkerSlot {
  /**
   * Starts the worker. Resolves to the URL once the worker accepts requests. If the worker cannot start, this method
   * throws, and the server does not start.
   */
  start(): Promise<string>
  /** Makes the worker unready because the server is about to stop. */
  announceStop(): void
  /** Stops the worker gracefully. Resolves when the worker has stopped listening. */
  stop(): Promise<void>
  /** Must be called when all workers have stopped listening. Waits until this worker has ended. */
  drain(): Promise<void>
  /** Ends the thread immediately. */
  terminate(): Promise<void>
  /** Ends each connection with this probability, so that its client reconnects and may reach another worker. */
  moveClients(chance: number): void
  /** Returns how busy the event loop has been since the previous call, from 0 to 1. */
  load(): number
}

/** The version that all workers emulate. It is set once the first worker has determined it. */
export interface SharedVersion {
  settled: EmulatedVersion | undefined
}

/** Uptime in milliseconds after which the start of a thread counts as successful. */
const soundMs = 10_000
const firstPauseMs = 100
const maxPauseMs = 5_000

/** One run of a worker's thread, with the state that exists only during that run. */
interface Life {
  readonly thread: Worker
  readonly heartbeat: Int32Array
  readonly began: number
  readonly ready: PromiseWithResolvers<string>
  readonly ended: Promise<void>
  /** Resolves when the worker has stopped listening. */
  readonly closed: PromiseWithResolvers<void>
  isReady: boolean
  /** Event-loop utilization at the previous measurement, used to compute the difference. */
  lastUse: EventLoopUtilization | undefined
  /** The reason why the thread ended, as reported by the worker or detected by the supervisor. */
  why: string | undefined
}

/**
 * Size limit of the young generation in MiB, half of V8's default. Garbage in the young generation accounts for most of
 * the memory that an additional worker needs. With this limit, a worker takes 54 MB instead of 97 MB after 10,000
 * creates, and neither creates nor updates become slower (decision 0038).
 */
const maxYoungGenerationSizeMb = 24

export class Slot implements WorkerSlot {
  readonly #options: SlotOptions
  #life: Life | undefined
  #stopping = false
  /**
   * Whether a worker in this slot has served requests. Failures before that are reported to the caller that starts the
   * server.
   */
  #served = false
  #pauseMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: SlotOptions) {
    this.#options = options
  }

  /** Creates the thread, which loads its modules and waits for the start message. */
  async prepare(): Promise<void> {
    this.#life ??= await this.#begin()
  }

  async start(): Promise<string> {
    await this.prepare()
    const life = this.#life!
    // End a thread that was created after `stop` was called.
    if (this.#stopping) await life.thread.terminate()
    this.#tell(life, { type: 'start', emulatedVersion: this.#options.version.settled })
    this.#watch(life)
    const url = await life.ready.promise
    life.isReady = true
    this.#served = true
    return url
  }

  announceStop(): void {
    if (this.#life !== undefined) this.#tell(this.#life, { type: 'stopping' })
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    const life = this.#life
    if (life === undefined) return
    this.#tell(life, { type: 'stop' })
    await Promise.race([life.closed.promise, life.ended])
  }

  async drain(): Promise<void> {
    const life = this.#life
    if (life === undefined) return
    this.#tell(life, { type: 'drain' })
    await life.ended
  }

  async terminate(): Promise<void> {
    this.#stopping = true
    await this.#life?.thread.terminate()
  }

  /** Stops the worker when its last connection has ended. Resolves when it has exited. */
  async retire(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    const life = this.#life
    if (life === undefined) return
    this.#tell(life, { type: 'retire' })
    await life.ended
  }

  moveClients(chance: number): void {
    if (this.#life !== undefined) this.#tell(this.#life, { type: 'move', chance })
  }

  load(): number {
    const life = this.#life
    if (life === undefined) return 0
    const now = life.thread.performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, life.lastUse)
    life.lastUse = now
    return utilization
  }

  async #begin(): Promise<Life> {
    const { index, command, flags, port, channel, console, limits, shared } = this.#options
    const store = await shared.connect()
    const heartbeat = new Int32Array(new SharedArrayBuffer(4))
    const commonData = { index, command, flags, port, channel, console, limits }
    const workerData: WorkerData = { ...commonData, store, heartbeat, isFirst: false }
    const thread = startThread(workerProgram, {
      workerData,
      transferList: [store.access.port],
      name: `worker ${index}`,
      resourceLimits: {
        // Limit the heap, so that a worker that runs out of memory terminates only itself.
        maxOldGenerationSizeMb: Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20),
        maxYoungGenerationSizeMb,
      },
    })
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    const ready = Promise.withResolvers<string>()
    const closed = Promise.withResolvers<void>()
    const life: Life = {
      thread,
      heartbeat,
      began: performance.now(),
      ready,
      ended,
      closed,
      isReady: false,
      lastUse: undefined,
      why: undefined,
    }
    ready.promise.catch(() => {})
    thread.on('message', (message: ToSupervisor) => this.#receive(life, message))
    thread.on('error', (error: unknown) => {
      life.why ??= messageOf(error)
    })
    thread.once('exit', (code) => this.#lose(life, code))
    this.#options.metrics.add(thread)
    this.#options.nodes.add(thread)
    return life
  }

  #receive(life: Life, message: ToSupervisor): void {
    if (message.type === 'ready') {
      this.#options.version.settled = message.emulatedVersion
      life.ready.resolve(message.url)
    } else if (message.type === 'closed') life.closed.resolve()
    else if (message.type === 'failed') life.why = message.why
    else if ('metrics' in message) this.#options.metrics.receive(life.thread, message)
    else this.#options.nodes.receive(life.thread, message)
  }

  #watch(life: Life): void {
    const end = (seconds: number) => {
      life.why = `it did not respond for ${seconds} seconds`
      void life.thread.terminate()
    }
    const unwatch = watchHeartbeat(life.heartbeat, () => life.isReady, end)
    life.thread.once('exit', unwatch)
  }

  #lose(life: Life, code: number): void {
    const { log, metrics, nodes, index } = this.#options
    const why = life.why ?? `it exited with code ${code}`
    metrics.remove(life.thread)
    nodes.remove(life.thread)
    life.ready.reject(new UsageError(why))
    if (this.#stopping || !this.#served) return
    log.error('a worker exited; starting a replacement', { worker: index, why })
    const isSound = performance.now() - life.began >= soundMs
    this.#pauseMs = isSound ? 0 : Math.min(maxPauseMs, Math.max(firstPauseMs, 2 * this.#pauseMs))
    this.#timer = setTimeout(() => void this.#replace(), this.#pauseMs)
  }

  /** Starts a replacement. If it also fails, `#lose` schedules another attempt. */
  async #replace(): Promise<void> {
    const { log, index } = this.#options
    this.#life = undefined
    try {
      await this.start()
      log.info('replaced a worker that exited', { worker: index })
    } catch (error) {
      if (this.#life === undefined && !this.#stopping)
        log.error('cannot start a worker', { worker: index, why: String(error) })
    }
  }

  #tell({ thread }: Life, message: ToWorker): void {
    thread.postMessage(message)
  }
}
