/**
 * The simulation thread of `orch up`, with the loops, containers and port of the simulated nodes. It has its own heap
 * and is an ordinary client of the API server: the server's pipeline handles its reads and writes as requests from the
 * node agents (decision 0051). `simulation-host.ts` starts the thread and restarts it when it exits.
 */

import { pipeline } from 'node:stream'
import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import type { ApiObject } from '../../api/model/object.ts'
import { type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import { lowerThreadPriority } from '../../base/concurrency/thread-priority.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { Informer } from '../../client/informers/informer.ts'
import { type LoopRecords, type RunningLoops, startLoops } from '../../client/reconcile/loop.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import { type ResourceType, typeName } from '../../client/requests/resource-type.ts'
import { localNode } from '../../cluster/node-port/local-nodes.ts'
import { type NodePort, openNodePort } from '../../cluster/node-port/node-port.ts'
import type { ServingCertificate } from '../../cluster/node-port/serving-contexts.ts'
import { followRules } from '../../cluster/nodes/failures/follow-failures.ts'
import { followKwokObjects, type KwokObjects } from '../../cluster/nodes/kwok/kwok-objects.ts'
import { type Simulation, simulateNodes } from '../../cluster/nodes/simulation.ts'
import type { Stage } from '../../cluster/nodes/stages/stage.ts'
import { readActor } from '../../cluster/nodes/stages/stage-actor.ts'
import { heartbeatMs } from '../threads/heartbeat.ts'
import { PortStream } from '../threads/port-stream.ts'
import { MessageBatch } from './message-batch.ts'
import type { FromThread, RequestMessage, ResolvedHost, SimulationData, ToThread } from './messages.ts'
import { ownNodes } from './own-nodes.ts'
import { finalizerWriter, kwokStatusWriter, sharedReader } from './shared-reader.ts'
import { threadRecords } from './thread-records.ts'
import { ThreadTransport } from './thread-transport.ts'

/**
 * Number of objects per list page. A page is a single string, and each pod may take up to 1.5 MB. A page must always
 * fit into the free heap.
 */
const pageLimit = 50
/** Number of received bytes between two checks of the heap. */
const bytesBetweenLooks = 1024 * 1024
/** Maximum number of cached clients for actors of stages. */
const maxActorClients = 100
const idleMs = 4 * 60 * 60 * 1000
const host = '127.0.0.1'

class SimulationThread {
  readonly #data: SimulationData
  readonly #vendor: Vendor
  readonly #records: LoopRecords
  readonly #transport: ThreadTransport
  readonly #clients = new Map<string, Client>()
  readonly #actorClients = new BoundedMap<string, Client>(maxActorClients)
  readonly #certificates = new Map<string, PromiseWithResolvers<ServingCertificate>>()
  /** Callbacks that wait for the address of a host, by the ID of the request. */
  readonly #lookups = new Map<number, (outcome: ResolvedHost) => void>()
  readonly #kwok: KwokObjects
  readonly #simulation: Simulation
  readonly #loops: RunningLoops
  readonly #opening: Promise<NodePort>
  #port = 0
  #unseenBytes = 0
  #lastLookup = 0

  constructor(data: SimulationData, stages: readonly Stage[] | undefined) {
    this.#data = data
    this.#vendor = vendorOf(data.profile)
    this.#records = threadRecords(post, data.verbosity)
    const requests = new MessageBatch<RequestMessage>((messages, transfer) =>
      post({ type: 'requests', messages }, transfer),
    )
    this.#transport = new ThreadTransport(
      (message) => requests.add(message),
      (bytes) => this.#guardHeap(bytes),
    )
    this.#kwok = this.#followKwok()
    this.#simulation = this.#simulate(stages)
    const { heartbeats, pods } = this.#simulation
    this.#loops = startLoops([heartbeats, pods, ...this.#kwok.loops], this.#records)
    this.#loops.firstPass.finally(() => post({ type: 'first pass' })).catch(() => {})
    this.#opening = this.#openPort()
    this.#opening.catch((error: unknown) =>
      this.#records.log.error(
        'cannot open the port for simulated nodes; logs and exec are unavailable',
        errorFields(error),
      ),
    )
  }

  receive(message: ToThread): void {
    if (message.type === 'stop') void this.#stop()
    else if (message.type === 'connect') this.#connect(message)
    else if (message.type === 'certificate') {
      this.#certificates.get(message.node)?.resolve(message.certificate)
      this.#certificates.delete(message.node)
    } else if (message.type === 'resolved') {
      this.#lookups.get(message.id)?.(message.outcome)
      this.#lookups.delete(message.id)
    } else for (const each of message.messages) this.#transport.receive(each)
  }

  #simulate(stages: readonly Stage[] | undefined): Simulation {
    const { nodes: names, capacity, kubernetesVersion, devices, volumeDirectory } = this.#data
    const { log } = this.#records
    const podInformer = this.#informer(kinds.Pod)
    const simulation = simulateNodes({
      nodes: ownNodes(names, { capacity, kubernetesVersion, devices, port: () => this.#port }),
      vendor: this.#vendor,
      clock: systemClock,
      pods: podInformer,
      nodeObjects: this.#informer(kinds.Node),
      rules: followRules(this.#clientOf(sharedReader), this.#vendor, {
        onError: this.#onWatchError('simulationrules'),
        pageLimit,
      }),
      kwok: this.#kwok,
      finalizerClientOf: () => this.#clientOf(finalizerWriter),
      speed: this.#data.speed,
      clientOf: (node) => this.#clientOf(node),
      ...(volumeDirectory === undefined ? {} : { volumeDirectory }),
      ...(stages === undefined ? {} : { stages }),
      onError: (error) => log.warn('cannot record events or create volumes for a simulated node', errorFields(error)),
    })
    // Removes the volumes of pods that were deleted while the thread was not running.
    const removeLeftovers = async () => ((await podInformer.synced) ? simulation.removeLeftovers() : undefined)
    removeLeftovers().catch((error: unknown) => log.warn('cannot remove old volumes', errorFields(error)))
    return simulation
  }

  #followKwok(): KwokObjects {
    return followKwokObjects(this.#clientOf(sharedReader), {
      logDirectory: this.#data.logDirectory,
      clock: systemClock,
      statusClient: this.#clientOf(kwokStatusWriter),
      vendor: this.#vendor,
      speed: this.#data.speed,
      clientOf: (name) => this.#clientOf(name),
      node: this.#data.nodes[0]!,
      resolveAddress: (host, port) => this.#resolveAddress(host, port),
      onError: this.#onWatchError("KWOK's kinds"),
      pageLimit,
    })
  }

  /** Returns an informer. Informers read the objects of all nodes, so they act as the shared reader. */
  #informer<T extends ApiObject>(type: ResourceType<T>): Informer<T> {
    return new Informer<T>(this.#clientOf(sharedReader), type, {
      onError: this.#onWatchError(typeName(type)),
      pageLimit,
    })
  }

  #onWatchError(type: string): (error: unknown) => void {
    return (error) => this.#records.log.error('watch failed; will resume', { type, ...errorFields(error) })
  }

  /** Returns the client for the agent of a node, a limited transport or the actor of a stage. */
  #clientOf(name: string): Client {
    const clients = readActor(name) === undefined ? this.#clients : this.#actorClients
    const existing = clients.get(name)
    if (existing !== undefined) return existing
    const client = new Client(this.#transport.as(name), { userAgent: this.#vendor.nodeAgent })
    clients.set(name, client)
    return client
  }

  async #openPort(): Promise<NodePort> {
    const { runtimes } = this.#simulation
    const byName = new Map(runtimes.map((runtime) => [runtime.name, runtime]))
    const sole = runtimes.length === 1 ? runtimes[0] : undefined
    const opened = await openNodePort({
      host,
      port: 0,
      vendor: this.#vendor,
      clock: systemClock,
      idleMs,
      log: this.#records.log,
      client: this.#clientOf(this.#data.nodes[0]!),
      node: (name) => (name === '' ? sole : byName.get(name)),
      certificate: (node) => this.#certificate(node),
      clientAuthorities: () => this.#data.clientAuthority,
    })
    this.#port = opened.port
    post({ type: 'listening', port: opened.port })
    return opened
  }

  async #certificate(node: string): Promise<ServingCertificate> {
    const existing = this.#certificates.get(node)
    if (existing !== undefined) return await existing.promise
    const pendingCertificate = Promise.withResolvers<ServingCertificate>()
    this.#certificates.set(node, pendingCertificate)
    post({ type: 'certificate', node })
    return await pendingCertificate.promise
  }

  /** Asks the server for the address of a host, because only the server knows the allowed addresses. */
  async #resolveAddress(host: string, port: number): Promise<string> {
    const id = ++this.#lastLookup
    const outcome = await new Promise<ResolvedHost>((resolve) => {
      this.#lookups.set(id, resolve)
      post({ type: 'resolve', id, host, port })
    })
    if ('why' in outcome) throw new Error(`cannot connect to ${host}: ${outcome.why}`)
    return outcome.address
  }

  #connect({ node, place, target, port }: Extract<ToThread, { type: 'connect' }>): void {
    const runtime = this.#simulation.runtimes.find(({ name }) => name === node)
    if (runtime === undefined) {
      port.close()
      return
    }
    const near = localNode(runtime, { host, port: this.#port }).connect(place, target)
    // `pipeline` closes both streams when either fails or ends.
    pipeline(near, new PortStream(port), near, () => {})
  }

  /**
   * Exits the thread if its heap is nearly full. V8 terminates the whole process if an allocation does not fit into the
   * heap, so the thread exits while the heap still has room for the largest string that a request can produce.
   */
  #guardHeap(bytes: number): void {
    this.#unseenBytes += bytes
    if (this.#unseenBytes < bytesBetweenLooks) return
    this.#unseenBytes = 0
    const { used_heap_size: used } = getHeapStatistics()
    if (used < this.#data.maxHeapBytes) return
    post({ type: 'failed', why: `its heap uses ${Math.round(used / 2 ** 20)} MiB` })
    process.exit(1)
  }

  async #stop(): Promise<void> {
    try {
      const opened = await this.#opening.catch(() => undefined)
      await Promise.all([this.#loops.stop(), opened?.close()])
    } finally {
      process.exit(0)
    }
  }
}

function post(message: FromThread, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, transfer)
}

/** Reads the stages. Loads their parser only if stages are configured. */
async function readStages({ stageTexts }: SimulationData): Promise<readonly Stage[] | undefined> {
  if (stageTexts === undefined) return undefined
  const { readStageFiles } = await import('../../cluster/nodes/stages/read-stage-files.ts')
  return readStageFiles([...stageTexts.keys()], (file) => stageTexts.get(file)!)
}

// Lower the priority of this thread, because API requests are more urgent than simulated containers.
lowerThreadPriority()
const data = workerData as SimulationData
setInterval(() => Atomics.add(data.heartbeat, 0, 1), heartbeatMs).unref()
const started = readStages(data).then((stages) => new SimulationThread(data, stages))
parentPort!.on('message', (message: ToThread) => void started.then((thread) => thread.receive(message)))
process.on('unhandledRejection', (error) =>
  post({ type: 'log', severity: 'error', message: 'unhandled promise rejection', fields: errorFields(error) }),
)
