/**
 * A worker: a complete server in a thread, on the store and the port that all workers share. It starts at the
 * supervisor's command, increments a heartbeat while its event loop runs, and exits after it has finished its requests.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { Exposition } from '../../base/telemetry/exposition.ts'
import { errorFields, type Log, openLog } from '../../base/telemetry/log.ts'
import { type MetricSnapshot, snapshotOf } from '../../base/telemetry/metric-sums.ts'
import type { Metric } from '../../base/telemetry/metrics.ts'
import { systemClock } from '../../base/time/clock.ts'
import { ConsoleAccess } from '../../tools/console/access.ts'
import { explainFailure } from '../assembly/explain-failure.ts'
import { type RunningServer, startServerWithLoops } from '../cluster/server-with-loops.ts'
import { readServerFlags, type ServerCommandLine } from '../flags/command-line.ts'
import { heartbeatMs } from '../threads/heartbeat.ts'
import type { ToSupervisor, ToWorker, WorkerData } from '../threads/messages.ts'
import type { WorkerContext } from '../threads/worker-context.ts'
import { RemoteNodes } from './remote-nodes.ts'

/**
 * How long a worker runs without its store. If the store failed for all, the supervisor ends the process earlier and
 * reports the reason. If only this worker lost it, another one replaces it.
 */
const lostMs = 5_000

/** How long a worker that has stopped listening waits for the others. */
const closedMs = 2_500

/** Runs until the supervisor stops it. */
export async function runWorker(data: WorkerData): Promise<void> {
  const worker = new Worker(data, await readServerFlags(data.command, data.flags))
  parentPort!.on('message', (message: ToWorker) => worker.obey(message))
  await worker.ended
  process.exit(0)
}

class Worker {
  readonly #data: WorkerData
  readonly #line: ServerCommandLine
  readonly #log: Log
  readonly #waiting = new Map<number, (exposition: Exposition) => void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #stopping = new AbortController()
  readonly #drain = Promise.withResolvers<void>()
  readonly #nodes = new RemoteNodes((message, transfer) => parentPort!.postMessage(message, transfer))
  #lastId = 0
  #metrics: readonly Metric[] = []
  #starting: Promise<RunningServer> | undefined

  constructor(data: WorkerData, line: ServerCommandLine) {
    this.#data = data
    this.#line = line
    const { verbosity: level, loggingFormat: format } = line.options
    this.#log = openLog({ level, format, fields: { worker: data.index } })
    process.on('unhandledRejection', (error) => this.#log.error('unhandled promise rejection', errorFields(error)))
  }

  /** Resolves when the worker has finished its requests or could not start. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  obey(message: ToWorker): void {
    if (message.type === 'start') void this.#start(message.emulatedVersion)
    else if (message.type === 'stopping') this.#stopping.abort()
    else if (message.type === 'stop') void this.#stop()
    else if (message.type === 'drain') this.#drain.resolve()
    else if (message.type === 'sample') this.#tell({ type: 'samples', id: message.id, metrics: this.#sample() })
    else if (message.type === 'nodes') this.#nodes.set(message.nodes)
    else if (message.type === 'connect') this.#nodes.accept(message)
    else if (message.type === 'exposition') this.#waiting.get(message.id)?.(message.exposition)
  }

  async #start(emulatedVersion: EmulatedVersion | undefined): Promise<void> {
    setInterval(() => Atomics.add(this.#data.heartbeat, 0, 1), heartbeatMs).unref()
    try {
      this.#starting = this.#run(emulatedVersion)
      const { server } = await this.#starting
      void server.failed.then(() => setTimeout(() => process.exit(1), lostMs).unref())
      this.#tell({ type: 'ready', url: server.url, emulatedVersion: server.emulatedVersion })
    } catch (error) {
      this.#tell({ type: 'failed', why: explainFailure(error) })
      this.#ended.resolve()
    }
  }

  async #run(emulatedVersion: EmulatedVersion | undefined): Promise<RunningServer> {
    const { index, port, console } = this.#data
    const { options, up } = this.#line
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

  async #stop(): Promise<void> {
    try {
      const running = await this.#starting
      await running?.stop()
    } catch (error) {
      this.#log.error('a worker did not stop cleanly', errorFields(error))
    }
    this.#ended.resolve()
  }

  #place(emulatedVersion: EmulatedVersion | undefined): WorkerContext {
    const { index, store, channel, limits } = this.#data
    const counting = { memory: limits.connections, channel, index }
    return {
      index,
      store,
      emulatedVersion,
      limits,
      counting,
      sharing: { channel, index },
      shareNodes: (local) => this.#nodes.join(local),
      exposing: (metrics) => {
        this.#metrics = metrics
        return { expose: () => this.#expose() }
      },
      allStoppedListening: async () => {
        this.#tell({ type: 'closed' })
        await Promise.race([this.#drain.promise, pause(closedMs)])
      },
    }
  }

  #expose(): Promise<Exposition> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#waiting.set(id, (exposition) => {
        this.#waiting.delete(id)
        resolve(exposition)
      })
      this.#tell({ type: 'expose', id, metrics: this.#sample() })
    })
  }

  #sample(): MetricSnapshot[] {
    return snapshotOf(this.#metrics)
  }

  #tell(message: ToSupervisor): void {
    parentPort!.postMessage(message)
  }
}
