/**
 * Runs the simulated nodes of `orch up` in a thread of their own (decision 0051): starts it, serves its requests, tells
 * the server where the port of the nodes is, and starts another when the thread ends by itself or stands still. A thread
 * that ends soon after its start is replaced after a pause that grows. What users do to a simulated node can end that
 * thread, and never the API server.
 */
import { getHeapStatistics } from 'node:v8'
import { MessageChannel, Worker } from 'node:worker_threads'
import { removeTemporary, temporaryDirectory } from '../../base/files/temporary-directory.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { RunningLoops } from '../../client/reconcile/loop.ts'
import type { Transport } from '../../client/requests/transport.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import { localNodeHost, servingCertificate } from '../certificates/node-serving-certificate.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'
import { watchHeartbeat } from '../threads/heartbeat.ts'
import type { NodeConnection } from '../threads/messages.ts'
import { PortStream } from '../threads/port-stream.ts'
import { HostRecords } from './host-records.ts'
import type { FromThread, SimulationData, ToThread } from './messages.ts'
import { agentOf, ownNodeNames } from './own-nodes.ts'
import { RequestServer } from './request-server.ts'

export type SimulationServer = Pick<
  ApiServer,
  'transport' | 'clock' | 'localNodes' | 'signingAuthority' | 'loopRecords'
>

export interface SimulationParts {
  /** Ends what a transport sends when the term of this server's loops does. */
  readonly within: (transport: Transport) => Transport
  /** The files of the flag `--node-stages` by their names. */
  readonly stageTexts: ReadonlyMap<string, string> | undefined
  /** Heap limit of the thread in MiB; by default enough for the pods of its nodes. */
  readonly heapMb?: number
}

/** A thread that has lived so long did not end because of its start. */
const soundMs = 10_000
const firstPauseMs = 100
const maxPauseMs = 10_000
/** How long the thread may take to end in order. */
const stopMs = 5_000
const mib = 2 ** 20
/** The heap of a simulation with few pods, and what each node adds: its pods. */
const heap = { baseMb: 512, perNodeMb: 4, youngMb: 8 }
/** The heap that is left when the thread ends itself: a page of a list must fit. */
const heapReserveMb = 192

/** Starts the thread; `stop` ends it. */
export function startSimulation(
  server: SimulationServer,
  options: ServerOptions & UpOptions,
  parts: SimulationParts,
): RunningLoops {
  const simulation = new SimulationHost(server, options, parts)
  return { firstPass: simulation.firstPass, stop: () => simulation.stop() }
}

/** A thread, from its start to its end. */
interface Life {
  readonly thread: Worker
  readonly requests: RequestServer
  readonly began: number
  readonly ended: Promise<void>
  /** Takes the nodes off the list of those that the server reaches. */
  forgetNodes: () => void
  isListening: boolean
  /** What the thread said, or what was found out, of its end. */
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
  readonly #firstPass = Promise.withResolvers<void>()
  /** Undefined where the last thread could not be started. */
  #life: Life | undefined
  #isStopping = false
  #pauseMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(server: SimulationServer, options: ServerOptions & UpOptions, parts: SimulationParts) {
    this.#server = server
    this.#options = options
    this.#parts = parts
    this.#nodes = new Set(ownNodeNames(options.nodes))
    this.#records = new HostRecords(server.loopRecords)
    this.#volumeDirectory = options.nodeVolumes ? temporaryDirectory('orch-nodes-') : undefined
    this.#start()
  }

  /** Resolves when the nodes have looked at everything once. */
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

  /** A thread that cannot be started is tried again like one that ended: the API server does without it meanwhile. */
  #start(): void {
    try {
      this.#life = this.#begin()
    } catch (error) {
      this.#life = undefined
      this.#startAgain(messageOf(error), 0)
    }
  }

  #begin(): Life {
    const { signingAuthority } = this.#server
    const { nodes, nodeCapacity: capacity, profile, verbosity } = this.#options
    const heapMb = this.#parts.heapMb ?? heapLimitMb(nodes)
    const heartbeat = new Int32Array(new SharedArrayBuffer(4))
    const workerData: SimulationData = {
      nodes: [...this.#nodes],
      capacity,
      profile,
      verbosity,
      volumeDirectory: this.#volumeDirectory,
      heartbeat,
      stageTexts: this.#parts.stageTexts,
      clientAuthority: signingAuthority.certificate,
      maxHeapBytes: (heapMb - heapReserveMb) * mib,
    }
    const thread = new Worker(threadUrl(), {
      workerData,
      execArgv: [],
      name: 'simulated nodes',
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: heap.youngMb },
    })
    const requests = new RequestServer(
      (node) => this.#transportOf(node),
      (message, transfer) => post(thread, message, transfer),
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
      life.why = `it did not answer for ${seconds} seconds`
      void thread.terminate()
    }
    thread.once(
      'exit',
      watchHeartbeat(heartbeat, () => life.isListening, end),
    )
    return life
  }

  /** As the agent of a node. Undefined for every other user. */
  #transportOf(node: string): Transport | undefined {
    if (!this.#nodes.has(node)) return undefined
    const transport = this.#transports.get(node) ?? this.#parts.within(this.#server.transport(agentOf(node)))
    this.#transports.set(node, transport)
    return transport
  }

  #receive(life: Life, message: FromThread): void {
    if (message.type === 'request' || message.type === 'abort' || message.type === 'read')
      life.requests.receive(message)
    else if (message.type === 'first pass') this.#firstPass.resolve()
    else if (message.type === 'listening') this.#listen(life, message.port)
    else if (message.type === 'certificate') this.#certify(life, message.node)
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

  /** The key of the CA stays with the server. */
  #certify({ thread }: Life, node: string): void {
    if (!this.#nodes.has(node)) return
    const { signingAuthority, clock } = this.#server
    post(thread, { type: 'certificate', node, certificate: servingCertificate(signingAuthority, node, clock.now()) })
  }

  #lose(life: Life, code: number): void {
    life.requests.close()
    life.forgetNodes()
    this.#records.clear()
    if (!this.#isStopping) this.#startAgain(life.why ?? `it ended with code ${code}`, performance.now() - life.began)
  }

  #startAgain(why: string, livedMs: number): void {
    this.#pauseMs = livedMs >= soundMs ? firstPauseMs : Math.min(maxPauseMs, Math.max(firstPauseMs, 2 * this.#pauseMs))
    const fields = { why, restartMs: this.#pauseMs }
    this.#server.loopRecords.log.error('the thread of the simulated nodes ended; it is started again', fields)
    this.#timer = setTimeout(() => this.#start(), this.#pauseMs)
  }
}

/** In order, or at once where that takes too long. */
async function end({ thread, ended }: Life): Promise<void> {
  post(thread, { type: 'stop' })
  const late = setTimeout(() => void thread.terminate(), stopMs)
  await ended
  clearTimeout(late)
}

/** Never more than this thread's own heap may have. */
function heapLimitMb(nodes: number): number {
  const ownMb = Math.floor(getHeapStatistics().heap_size_limit / mib)
  return Math.max(heap.baseMb, Math.min(heap.baseMb + heap.perNodeMb * nodes, ownMb))
}

function connect(thread: Worker, connection: NodeConnection): PortStream {
  const { port1, port2 } = new MessageChannel()
  thread.postMessage({ ...connection, type: 'connect', port: port2 } satisfies ToThread, [port2])
  return new PortStream(port1)
}

function post(thread: Worker, message: ToThread, transfer: ArrayBuffer[] = []): void {
  thread.postMessage(message, transfer)
}

// The bundle has the thread beside it as a file of its own.
function threadUrl(): URL {
  const file = import.meta.url.endsWith('.ts') ? './simulation-thread.ts' : './simulation-thread.cjs'
  return new URL(file, import.meta.url)
}
