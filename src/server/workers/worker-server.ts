/**
 * The server of one worker: a complete server that uses the store and the port that all workers share. It runs in a
 * separate thread (`worker.ts`) or in the main thread (`main-worker.ts`), and the supervisor controls it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { Exposition } from '../../base/telemetry/exposition.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { type MetricSnapshot, snapshotOf } from '../../base/telemetry/metric-sums.ts'
import type { Metric, MetricsPage } from '../../base/telemetry/metrics.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { StoreError } from '../../storage/store/store.ts'
import { ConsoleAccess } from '../../tools/console/access.ts'
import { explainFailure } from '../assembly/explain-failure.ts'
import { type RunningServer, startServerWithLoops } from '../cluster/server-with-loops.ts'
import type { ServerCommandLine } from '../flags/command-line.ts'
import type { ToSupervisor, ToWorker, WorkerData } from '../threads/messages.ts'
import type { WorkerContext } from '../threads/worker-context.ts'
import { RemoteNodes } from './remote-nodes.ts'

/** Maximum time in milliseconds for which a worker that has stopped listening waits for the other workers. */
const closedMs = 2_500

/** Message ID for metrics that the worker sends on its own initiative. Requests never have this ID. */
const notAsked = 0

interface WorkerServerParts {
  readonly data: Omit<WorkerData, 'command' | 'flags' | 'heartbeat'>
  readonly line: ServerCommandLine
  readonly log: Log
  /** Sends a message to the supervisor. */
  readonly tell: (message: ToSupervisor, transfer: MessagePort[]) => void
  /** Called when this worker can no longer use the store. */
  readonly onFailed: (error: StoreError) => void
}

export class WorkerServer {
  readonly #parts: WorkerServerParts
  readonly #log: Log
  readonly #waiting = new Map<number, (exposition: Exposition) => void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #stopping = new AbortController()
  readonly #drain = Promise.withResolvers<void>()
  readonly #nodes: RemoteNodes
  #lastId = 0
  #metrics: readonly Metric[] = []
  #starting: Promise<RunningServer> | undefined
  #stopped: Promise<void> | undefined

  constructor(parts: WorkerServerParts) {
    this.#parts = parts
    this.#log = parts.log
    this.#nodes = new RemoteNodes(parts.tell)
  }

  /** Resolves when the worker has completed its requests or could not start. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  obey(message: ToWorker): void {
    if (message.type === 'start') void this.#start(message.emulatedVersion)
    else if (message.type === 'stopping') this.#stopping.abort()
    else if (message.type === 'stop') void this.#stop()
    else if (message.type === 'drain') this.#drain.resolve()
    else if (message.type === 'move') void this.#move(message.chance)
    else if (message.type === 'retire') void this.#retire()
    else if (message.type === 'sample') this.#tell({ type: 'samples', id: message.id, metrics: this.#sample() })
    else if (message.type === 'nodes') this.#nodes.set(message.nodes)
    else if (message.type === 'connect') this.#nodes.accept(message)
    else if (message.type === 'exposition') this.#waiting.get(message.id)?.(message.exposition)
  }

  async #start(emulatedVersion: EmulatedVersion | undefined): Promise<void> {
    try {
      this.#starting = this.#run(emulatedVersion)
      const { server } = await this.#starting
      void server.failed.then(this.#parts.onFailed)
      this.#tell({ type: 'ready', url: server.url, emulatedVersion: server.emulatedVersion })
    } catch (error) {
      this.#tell({ type: 'failed', why: explainFailure(error) })
      this.#ended.resolve()
    }
  }

  async #run(emulatedVersion: EmulatedVersion | undefined): Promise<RunningServer> {
    const { index, port, console } = this.#parts.data
    const { options, up } = this.#parts.line
    const own = { securePort: port, ...(index === 0 ? {} : { adminKubeconfig: '' }) }
    const line = { options: { ...options, ...own }, up: up && { ...up, ...own } }
    const running = await startServerWithLoops(line, {
      log: this.#log,
      worker: this.#place(emulatedVersion),
      stopping: this.#stopping.signal,
      console: console && new ConsoleAccess(console, systemClock),
    })
    if (index === 0) running.startLoops()
    return running
  }

  async #move(chance: number): Promise<void> {
    const running = await this.#starting
    running?.server.moving.moveClients(chance)
  }

  /** Stops once the last connection has ended, however long its requests take. */
  async #retire(): Promise<void> {
    const running = await this.#starting
    await running?.server.moving.leave()
    // Send the final metrics before exiting. The supervisor adds them to the totals, so that counters never decrease.
    this.#tell({ type: 'samples', id: notAsked, metrics: this.#sample() })
    this.#drain.resolve()
    await this.#stop()
  }

  #stop(): Promise<void> {
    this.#stopped ??= this.#stopOnce()
    return this.#stopped
  }

  async #stopOnce(): Promise<void> {
    try {
      // Ignore the error of a failed start, which has already closed all resources.
      const running = await this.#starting?.catch(() => undefined)
      await running?.stop()
    } catch (error) {
      this.#log.error('a worker did not stop cleanly', errorFields(error))
    }
    this.#ended.resolve()
  }

  #place(emulatedVersion: EmulatedVersion | undefined): WorkerContext {
    const { index, store, channel, limits, isFirst } = this.#parts.data
    const workers = () => Atomics.load(limits.count, 0)
    const counting = { memory: limits.connections, channel, index, workers }
    return {
      index,
      store,
      isAlone: isFirst,
      emulatedVersion,
      limits,
      counting,
      sharing: { channel, index, waits: isFirst },
      shareNodes: (local) => this.#nodes.join(local),
      exposing: (metrics) => {
        this.#metrics = metrics
        return { expose: (page = '/metrics') => this.#expose(page) }
      },
      allStoppedListening: async () => {
        this.#tell({ type: 'closed' })
        await Promise.race([this.#drain.promise, pause(closedMs)])
      },
    }
  }

  #expose(page: MetricsPage): Promise<Exposition> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#waiting.set(id, (exposition) => {
        this.#waiting.delete(id)
        resolve(exposition)
      })
      this.#tell({ type: 'expose', id, page, metrics: this.#sample() })
    })
  }

  #sample(): MetricSnapshot[] {
    return snapshotOf(this.#metrics)
  }

  #tell(message: ToSupervisor): void {
    this.#parts.tell(message, [])
  }
}
