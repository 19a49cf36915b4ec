/**
 * The first worker of `--workers=auto`. It runs in the main thread together with the supervisor, so a server that needs
 * no other worker has no additional thread.
 */
import type { EventLoopUtilization } from 'node:perf_hooks'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { StoreError } from '../../storage/store/store.ts'
import type { ServerCommandLine } from '../flags/command-line.ts'
import type { ToSupervisor, WorkerData, WorkerPort } from '../threads/messages.ts'
import type { SharedNodes } from './shared-nodes.ts'
import type { SharedStore } from './shared-store.ts'
import type { SharedVersion, WorkerSlot } from './slot.ts'
import type { WorkerMetrics } from './worker-metrics.ts'
import { WorkerServer } from './worker-server.ts'

interface MainWorkerOptions extends Pick<WorkerData, 'port' | 'channel' | 'console' | 'limits'> {
  readonly line: ServerCommandLine
  readonly shared: SharedStore
  readonly log: Log
  readonly metrics: WorkerMetrics
  readonly nodes: SharedNodes
  readonly version: SharedVersion
  readonly onFailed: (error: StoreError) => void
}

export class MainWorker implements WorkerSlot {
  readonly #options: MainWorkerOptions
  readonly #ready = Promise.withResolvers<string>()
  readonly #closed = Promise.withResolvers<void>()
  /** Calls the server directly, because it runs in this thread. */
  readonly #port: WorkerPort = { postMessage: (message) => this.#server?.obey(message) }
  #server: WorkerServer | undefined
  #lastUse: EventLoopUtilization | undefined

  constructor(options: MainWorkerOptions) {
    this.#options = options
  }

  async start(): Promise<string> {
    const { line, log, shared, port, channel, console, limits, metrics, nodes, onFailed } = this.#options
    const store = await shared.connect()
    this.#server = new WorkerServer({
      data: { index: 0, isFirst: true, port, channel, console, limits, store },
      line,
      log,
      tell: (message) => this.#receive(message),
      onFailed,
    })
    metrics.add(this.#port)
    nodes.add(this.#port)
    this.#server.obey({ type: 'start', emulatedVersion: undefined })
    return await this.#ready.promise
  }

  announceStop(): void {
    this.#port.postMessage({ type: 'stopping' })
  }

  async stop(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    server.obey({ type: 'stop' })
    await Promise.race([this.#closed.promise, server.ended])
  }

  async drain(): Promise<void> {
    this.#server?.obey({ type: 'drain' })
    await this.#server?.ended
  }

  /** There is nothing to do, because this worker ends with the process. */
  async terminate(): Promise<void> {}

  moveClients(chance: number): void {
    this.#port.postMessage({ type: 'move', chance })
  }

  load(): number {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#lastUse)
    this.#lastUse = now
    return utilization
  }

  #receive(message: ToSupervisor): void {
    const { metrics, nodes, version } = this.#options
    if (message.type === 'ready') {
      version.settled = message.emulatedVersion
      this.#ready.resolve(message.url)
    } else if (message.type === 'closed') this.#closed.resolve()
    else if (message.type === 'failed') this.#ready.reject(new UsageError(message.why))
    else if ('metrics' in message) metrics.receive(this.#port, message)
    else nodes.receive(this.#port, message)
  }
}
