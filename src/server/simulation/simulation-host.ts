/**
 * Runs the simulated nodes of `orch up` in a separate thread (decision 0051). Starts the thread, serves its requests,
 * registers the port of the nodes, and restarts the thread if it exits or hangs. If the thread exits soon after
 * starting, it is restarted with a growing backoff. User actions on a simulated node can crash this thread but never
 * the API server.
 */
import { resolve } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { vendorOf } from '../../api/model/vendor.ts'
import { startThread } from '../../base/files/program-files.ts'
import { removeTemporary, temporaryDirectory } from '../../base/files/temporary-directory.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { RunningLoops } from '../../client/reconcile/loop.ts'
import { Client } from '../../client/requests/client.ts'
import type { Transport } from '../../client/requests/transport.ts'
import type { SimulatedDevices } from '../../cluster/nodes/devices/node-devices.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import { localNodeHost, servingCertificate } from '../certificates/node-serving-certificate.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'
import { watchHeartbeat } from '../threads/heartbeat.ts'
import type { NodeConnection } from '../threads/messages.ts'
import { PortStream } from '../threads/port-stream.ts'
import { HostRecords } from './host-records.ts'
import { MessageBatch } from './message-batch.ts'
import type { FromThread, ResponseMessage, SimulationData, ToThread } from './messages.ts'
import { agentOf, ownNodeNames } from './own-nodes.ts'
import { RequestServer } from './request-server.ts'
import {
  finalizerWriter,
  type KwokState,
  kwokStatusWriter,
  readsSimulatedState,
  sharedReader,
  sharedReaderUser,
  writesFinalizers,
  writesKwokStatus,
} from './shared-reader.ts'
import { StageAuthors } from './stage-authors.ts'

/** Location of the simulation thread's code. */
const threadProgram = {
  importer: import.meta.url,
  source: './simulation-thread.ts',
  bundled: 'simulation-thread.cjs',
}

export type SimulationServer = Pick<
  ApiServer,
  | 'emulatedVersion'
  | 'transport'
  | 'whenUsed'
  | 'clock'
  | 'localNodes'
  | 'signingAuthority'
  | 'loopRecords'
  | 'addresses'
>

export interface SimulationParts {
  /** Wraps a transport so that its requests end with the leader's term. */
  readonly within: (transport: Transport) => Transport
  /** Resolves when the API server serves KWOK's kinds. */
  readonly kwokInstalled: Promise<void>
  /** Contents of the `--node-stages` files, by path. */
  readonly stageTexts: ReadonlyMap<string, string> | undefined
  /** Devices that each simulated node publishes. */
  readonly devices?: readonly SimulatedDevices[] | undefined
  /** Heap limit of the thread in MiB. By default, it depends on the number of nodes. */
  readonly heapMb?: number
}

/** Uptime in milliseconds after which the start of a thread counts as successful and the restart backoff is reset. */
const soundMs = 10_000
const firstPauseMs = 100
const maxPauseMs = 10_000
/** Maximum time in milliseconds for the thread to stop gracefully. */
const stopMs = 5_000
const mib = 2 ** 20
/** Heap size in MiB for a simulation with few pods, and the increment per node for its pods. */
const heap = { baseMb: 512, perNodeMb: 4 }
/**
 * Size in MiB of the young generation of the heap. With many pods, a small young generation makes garbage collection
 * expensive.
 */
const young = { usualMb: 8, manyNodesMb: 48, manyNodes: 500 }
/** Amount of free heap in MiB below which the thread exits. A page of a list must fit into this amount. */
const heapReserveMb = 192

/** Starts the simulation thread. `stop` ends it. */
export function startSimulation(
  server: SimulationServer,
  options: ServerOptions & UpOptions,
  parts: SimulationParts,
): RunningLoops {
  const simulation = new SimulationHost(server, options, parts)
  return { firstPass: simulation.firstPass, stop: () => simulation.stop() }
}

/** One run of the simulation thread, with the state that exists only during that run. */
interface Life {
  readonly thread: Worker
  readonly requests: RequestServer
  readonly began: number
  readonly ended: Promise<void>
  /** Unregisters the thread's nodes, so that the server no longer connects to them. */
  forgetNodes: () => void
  isListening: boolean
  /** Why the thread ended: its own report, or a hang that the host detected. */
  why: string | undefined
}

class SimulationHost {
  readonly #server: SimulationServer
  readonly #options: ServerOptions & UpOptions
  readonly #parts: SimulationParts
  readonly #nodes: ReadonlySet<string>
  readonly #records: HostRecords
  readonly #volumeDirectory: string | undefined
  readonly #transports = new Map<string, Transport>()
  /** Transports, by name, that act as the shared reader's user but allow only certain requests. */
  readonly #limited: ReadonlyMap<string, Transport>
  readonly #authors: StageAuthors
  readonly #firstPass = Promise.withResolvers<void>()
  /** The running thread. Undefined if the last start failed. */
  #life: Life | undefined
  #isStopping = false
  #pauseMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(server: SimulationServer, options: ServerOptions & UpOptions, parts: SimulationParts) {
    this.#server = server
    this.#options = options
    this.#parts = parts
    this.#nodes = new Set(ownNodeNames(options.nodes))
    const whenUsed: KwokState['whenUsed'] = (type, signal) => server.whenUsed(type, signal)
    const shared = parts.within(server.transport(sharedReaderUser))
    this.#limited = new Map([
      [
        sharedReader,
        readsSimulatedState(shared, vendorOf(options.profile), { installed: parts.kwokInstalled, whenUsed }),
      ],
      [kwokStatusWriter, writesKwokStatus(shared)],
      [finalizerWriter, writesFinalizers(shared)],
    ])
    this.#authors = new StageAuthors({
      client: new Client(shared, { userAgent: sharedReaderUser.name }),
      vendor: vendorOf(options.profile),
      clock: server.clock,
      transport: (user) => parts.within(server.transport(user)),
    })
    this.#records = new HostRecords(server.loopRecords)
    this.#volumeDirectory = options.nodeVolumes ? temporaryDirectory('orch-nodes-') : undefined
    this.#start()
  }

  /** Resolves once the nodes have processed all objects that existed at the start. */
  get firstPass(): Promise<void> {
    return this.#firstPass.promise
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    if (this.#life !== undefined) await end(this.#life)
    if (this.#volumeDirectory !== undefined) removeTemporary(this.#volumeDirectory)
    this.#firstPass.resolve()
  }

  /**
   * Starts a thread. If the start fails, it is retried in the same way as after an exit. In the meantime, the API
   * server works without the thread.
   */
  #start(): void {
    try {
      this.#life = this.#begin()
    } catch (error) {
      this.#life = undefined
      this.#startAgain(messageOf(error), 0)
    }
  }

  #begin(): Life {
    const { signingAuthority, emulatedVersion: kubernetesVersion } = this.#server
    const { nodes, nodeCapacity: capacity, simulationSpeed: speed, profile, verbosity } = this.#options
    const heapMb = this.#parts.heapMb ?? heapLimitMb(nodes)
    const heartbeat = new Int32Array(new SharedArrayBuffer(4))
    const workerData: SimulationData = {
      nodes: [...this.#nodes],
      capacity,
      kubernetesVersion,
      speed,
      profile,
      verbosity,
      volumeDirectory: this.#volumeDirectory,
      heartbeat,
      stageTexts: this.#parts.stageTexts,
      devices: this.#parts.devices,
      logDirectory: this.#options.simulationLogs === '' ? undefined : resolve(this.#options.simulationLogs),
      clientAuthority: signingAuthority.certificate,
      maxHeapBytes: (heapMb - heapReserveMb) * mib,
    }
    const thread = startThread(threadProgram, {
      workerData,
      execArgv: [],
      name: 'simulated nodes',
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb(nodes) },
    })
    const responses = new MessageBatch<ResponseMessage>((messages, transfer) =>
      post(thread, { type: 'responses', messages }, transfer),
    )
    const requests = new RequestServer(
      (node) => this.#transportOf(node),
      (message) => responses.add(message),
    )
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    const began = performance.now()
    const life: Life = { thread, requests, began, ended, forgetNodes: () => {}, isListening: false, why: undefined }
    thread.on('message', (message: FromThread) => this.#receive(life, message))
    thread.on('error', (error: unknown) => {
      life.why ??= messageOf(error)
    })
    thread.once('exit', (code) => this.#lose(life, code))
    const end = (seconds: number) => {
      life.why = `it did not respond for ${seconds} seconds`
      void thread.terminate()
    }
    thread.once(
      'exit',
      watchHeartbeat(heartbeat, () => life.isListening, end),
    )
    return life
  }

  /**
   * Returns the transport for a name, which identifies a node's agent, a limited transport or the actor of a stage.
   * Returns undefined for any other name.
   */
  #transportOf(node: string): Transport | undefined {
    const limited = this.#limited.get(node) ?? this.#authors.transportOf(node)
    if (limited !== undefined) return limited
    if (!this.#nodes.has(node)) return undefined
    const transport = this.#transports.get(node) ?? this.#parts.within(this.#server.transport(agentOf(node)))
    this.#transports.set(node, transport)
    return transport
  }

  #receive(life: Life, message: FromThread): void {
    if (message.type === 'requests') for (const each of message.messages) life.requests.receive(each)
    else if (message.type === 'first pass') this.#firstPass.resolve()
    else if (message.type === 'listening') this.#listen(life, message.port)
    else if (message.type === 'certificate') this.#certify(life, message.node)
    else if (message.type === 'resolve') void this.#resolve(life, message)
    else if (message.type === 'failed') life.why = message.why
    else this.#records.receive(message)
  }

  #listen(life: Life, port: number): void {
    const { localNodes } = this.#server
    const forget = [...this.#nodes].map((name) =>
      localNodes.add({
        name,
        host: localNodeHost,
        port,
        connect: (place, target) => connect(life.thread, { node: name, place, target }),
      }),
    )
    life.isListening = true
    life.forgetNodes = () => {
      for (const each of forget) each()
    }
  }

  /**
   * Issues a node's certificate here rather than in the simulation thread, so that the CA key never leaves this thread.
   */
  #certify({ thread }: Life, node: string): void {
    if (!this.#nodes.has(node)) return
    const { signingAuthority, clock } = this.#server
    post(thread, { type: 'certificate', node, certificate: servingCertificate(signingAuthority, node, clock.now()) })
  }

  /**
   * Resolves the host to which a port is forwarded. This happens in the server's thread, because only this thread knows
   * the allowed addresses.
   */
  async #resolve({ thread }: Life, { id, host, port }: Extract<FromThread, { type: 'resolve' }>): Promise<void> {
    const outcome = await this.#server.addresses.resolve(host, port).then(
      (address) => ({ address }),
      (error: unknown) => ({ why: messageOf(error) }),
    )
    post(thread, { type: 'resolved', id, outcome })
  }

  #lose(life: Life, code: number): void {
    life.requests.close()
    life.forgetNodes()
    this.#records.clear()
    if (!this.#isStopping) this.#startAgain(life.why ?? `it exited with code ${code}`, performance.now() - life.began)
  }

  #startAgain(why: string, livedMs: number): void {
    this.#pauseMs = livedMs >= soundMs ? firstPauseMs : Math.min(maxPauseMs, Math.max(firstPauseMs, 2 * this.#pauseMs))
    const fields = { why, restartMs: this.#pauseMs }
    this.#server.loopRecords.log.error('the simulated-nodes thread exited; restarting it', fields)
    this.#timer = setTimeout(() => this.#start(), this.#pauseMs)
  }
}

/** Stops the thread gracefully, or immediately after a timeout. */
async function end({ thread, ended }: Life): Promise<void> {
  post(thread, { type: 'stop' })
  const late = setTimeout(() => void thread.terminate(), stopMs)
  await ended
  clearTimeout(late)
}

/** Returns the heap limit for the simulation thread. It does not exceed the heap limit of this thread. */
function heapLimitMb(nodes: number): number {
  const ownMb = Math.floor(getHeapStatistics().heap_size_limit / mib)
  return Math.max(heap.baseMb, Math.min(heap.baseMb + heap.perNodeMb * nodes, ownMb))
}

function youngMb(nodes: number): number {
  return nodes < young.manyNodes ? young.usualMb : young.manyNodesMb
}

function connect(thread: Worker, connection: NodeConnection): PortStream {
  const { port1, port2 } = new MessageChannel()
  thread.postMessage({ ...connection, type: 'connect', port: port2 } satisfies ToThread, [port2])
  return new PortStream(port1)
}

function post(thread: Worker, message: ToThread, transfer: ArrayBuffer[] = []): void {
  thread.postMessage(message, transfer)
}
