/** Gives the HTTPS port of a simulated node access to the node's pods and their containers. */

import { once } from 'node:events'
import { posix } from 'node:path'
import type { Duplex, Writable } from 'node:stream'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { ContainerLog } from '../../node-port/container-log.ts'
import type {
  ContainerRuntime,
  ContainerStreams,
  NodeRuntime,
  NodeUsage,
  PodPlace,
  PodRuntime,
} from '../../node-port/runtime.ts'
import type { NodeOutages } from '../failures/node-outages.ts'
import type { CommandSettings } from '../kwok/exec-objects.ts'
import type { KwokObjects } from '../kwok/kwok-objects.ts'
import type { Following } from '../kwok/log-files.ts'
import { metricText } from '../kwok/metric-text.ts'
import { metricSubjects } from '../kwok/node-measurements.ts'
import type { NodeAmounts } from '../volumes/downward.ts'
import type { PodVolumes } from '../volumes/pod-volumes.ts'
import type { CommandMemory, Environment } from './command-memory.ts'
import { ContainerFiles } from './container-files.ts'
import { type ContainerLogs, containersOf, shownCommand, statusOf } from './container-logs.ts'
import { type FindUsage, UsageMeter } from './container-usage.ts'
import { environmentOf, hostnameOf } from './environment.ts'
import { helloFrom, serveHttp } from './http-responder.ts'
import { isCommand, runCommand, type ShellPlace } from './shell.ts'
import { typedLines } from './terminal-input.ts'
import type { WrittenFiles } from './written-files.ts'

export interface SimulatedNodeParts {
  readonly name: string
  /** Index of the pods by node name. */
  readonly pods: Index<Pod>
  readonly logs: ContainerLogs
  readonly volumes: PodVolumes | undefined
  readonly outages: Pick<NodeOutages, 'isUnreachable'>
  /** Speed of the containers, as a multiple of real time. */
  readonly speed: number
  readonly client: () => Client
  readonly amounts: NodeAmounts
  /** Returns the Node object, or undefined if it does not exist. */
  readonly node: () => Node | undefined
  readonly memory: CommandMemory
  /** Files that simulated commands have created. */
  readonly written: WrittenFiles
  /** KWOK objects of the kinds that simulated nodes support. Undefined if this simulation does not support them. */
  readonly kwok?: Pick<KwokObjects, 'logs' | 'commands' | 'ports' | 'metrics'> | undefined
  /** Finds resource usage that KWOK objects, such as ResourceUsage, define for containers. */
  readonly usageOf?: FindUsage | undefined
  readonly vendor: Vendor
  readonly clock: Clock
}

export class SimulatedNode implements NodeRuntime {
  readonly name: string
  readonly #parts: SimulatedNodeParts
  readonly #meter: UsageMeter
  readonly #startedAt: number

  constructor(parts: SimulatedNodeParts) {
    this.name = parts.name
    this.#parts = parts
    this.#meter = new UsageMeter(parts.vendor, parts.usageOf)
    this.#startedAt = parts.clock.now()
  }

  get isReachable(): boolean {
    return !this.#parts.outages.isUnreachable(this.name)
  }

  pods(): readonly ApiObject[] {
    return [...this.#parts.pods.get(this.name)] as unknown as ApiObject[]
  }

  pod({ namespace, name }: PodPlace): PodRuntime | undefined {
    const find = () =>
      [...this.#parts.pods.get(this.name)].find(
        ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
      )
    const pod = find()
    return pod === undefined ? undefined : new SimulatedPod(this.#parts, pod)
  }

  usage(): NodeUsage {
    const { pods, amounts, clock } = this.#parts
    const used = this.#meter.read(pods.get(this.name), clock.now())
    return { startedAt: this.#startedAt, memoryBytes: bytesIn(amounts.memory), pods: used }
  }

  async metrics(path: readonly string[]): Promise<AsyncIterable<Buffer> | undefined> {
    const { kwok, pods, clock, node } = this.#parts
    const rules = await kwok?.metrics.at(path, this.name)
    if (rules === undefined) return undefined
    const measured = { node: node(), pods: [...pods.get(this.name)], usage: this.usage(), now: clock.now() }
    return metricText(rules, metricSubjects(measured))
  }
}

function bytesIn(text: string | undefined): number {
  const quantity = text === undefined ? undefined : parseQuantity(text)
  return quantity === undefined ? 0 : Number(quantity.nanos) / 1e9
}

class SimulatedPod implements PodRuntime {
  readonly uid: string
  readonly #parts: SimulatedNodeParts
  readonly #pod: Pod

  constructor(parts: SimulatedNodeParts, pod: Pod) {
    this.#parts = parts
    this.#pod = pod
    this.uid = pod.metadata.uid ?? ''
  }

  container(name: string): ContainerRuntime | undefined {
    const container = containersOf(this.#pod).find((each) => each.name === name)
    return container === undefined ? undefined : new SimulatedContainer(this.#parts, this.#pod, container)
  }

  async connect(port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
    const { spec, status } = this.#pod
    if (status?.phase !== 'Running') throw new Error(`the pod is not running: it is ${status?.phase}`)
    const ports = this.#parts.kwok?.ports
    const service = ports?.serviceOf(this.#pod, port)
    if (ports !== undefined && service !== undefined) return await ports.serve(service, stream, signal)
    const open = (spec?.containers ?? []).flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort))
    if (open.length > 0 && !open.includes(port))
      throw new Error(`nothing listens on port ${port}: the pod's containers declare ${open.join(', ')}`)
    await serveHttp(helloFrom(this.#pod), stream, signal)
  }
}

class SimulatedContainer implements ContainerRuntime {
  readonly #parts: SimulatedNodeParts
  readonly #pod: Pod
  readonly #container: Container

  constructor(parts: SimulatedNodeParts, pod: Pod, container: Container) {
    this.#parts = parts
    this.#pod = pod
    this.#container = container
  }

  get isRunning(): boolean {
    return statusOf(this.#pod, this.#container.name ?? '')?.state?.running !== undefined
  }

  log(instance: 'last' | 'previous', signal?: AbortSignal): ContainerLog | undefined {
    const { logs, kwok } = this.#parts
    const pod = this.#pod
    const container = this.#container.name ?? ''
    const log = logs.log(pod, this.#container, instance)
    // A container that has not started has no log, even if an object specifies one.
    if (log === undefined) return undefined
    const following = signal && followingOf(log, signal)
    return kwok?.logs.logOf({ pod, container, instance, following }) ?? log
  }

  async exec(command: readonly string[], streams: ContainerStreams): Promise<number> {
    const [name = ''] = command
    if (!isCommand(name))
      throw new Error(
        `the simulated container has no program ${JSON.stringify(name)}: it has a few such as echo, env, cat, ls, ps, tar, sleep and sh`,
      )
    const { client, amounts, memory } = this.#parts
    const pod = this.#pod
    const container = this.#container
    const environment = await environmentOf({ pod, container, client: client(), amounts, memory })
    const settings = this.#parts.kwok?.commands.find(pod, container.name ?? '')
    try {
      for (const variable of settings?.variables ?? []) environment.set(variable.name, variable.value)
      return await runCommand(command, this.#place(streams, environment, settings))
    } finally {
      environment.close()
    }
  }

  /** Streams the output until the container ends or the client disconnects. The simulated process reads no input. */
  async attach({ stdout, stderr, signal }: ContainerStreams): Promise<void> {
    const { logs, kwok } = this.#parts
    const lifecycle = logs.log(this.#pod, this.#container, 'last')
    if (lifecycle === undefined) return
    const output = kwok?.logs.outputOf(this.#pod, this.#container.name ?? '', followingOf(lifecycle, signal))
    const log = output ?? lifecycle
    let next = output?.range.first ?? lifecycle.range.end
    for (;;) {
      for (; next < log.range.end && !signal.aborted; next++) {
        const line = log.line(next)
        if (line !== undefined) await write((line.stream === 'stderr' ? stderr : stdout) ?? stdout, `${line.text}\n`)
      }
      if (signal.aborted || log.isEnded) return
      await log.changed(next, signal)
    }
  }

  #place(
    { stdin, stdout, stderr, terminal, signal }: ContainerStreams,
    environment: Environment,
    settings: CommandSettings | undefined,
  ): ShellPlace {
    const pod = this.#pod
    const container = this.#container
    const { volumes, written } = this.#parts
    const { restartCount = 0 } = statusOf(pod, container.name ?? '') ?? {}
    const workDir = posix.resolve('/', settings?.workDir || container.workingDir || '/')
    const files = new ContainerFiles({ pod, container, volumes, written, restartCount, workDir })
    const { runAsUser = 0, runAsGroup = 0 } = { ...pod.spec?.securityContext, ...container.securityContext }
    const print = (text: string | Buffer) => write(stdout, terminal === undefined ? text : withReturns(text))
    const typed = stdin as AsyncIterable<Buffer> | undefined
    return {
      hostname: hostnameOf(pod),
      environment,
      workDir,
      files,
      user: settings?.user ?? Number(runAsUser),
      group: settings?.group ?? Number(runAsGroup),
      program: shownCommand(container) || (container.image ?? ''),
      print,
      printError: (text) => (stderr === undefined ? print(text) : write(stderr, text)),
      input:
        typed !== undefined && terminal !== undefined
          ? typedLines(typed, (text) => write(stdout, text), `${hostnameOf(pod)}:/# `)
          : typed,
      signal,
      speed: this.#parts.speed,
    }
  }
}

/** Returns how long to follow a file: until the client disconnects or the container terminates. */
function followingOf(lifecycle: ContainerLog, signal: AbortSignal): Following {
  return { signal, isOver: () => lifecycle.isEnded }
}

/** Writes to a stream. If the reader is slow, waits until the stream accepts more data. */
async function write(stream: Writable | undefined, text: string | Buffer): Promise<void> {
  if (stream === undefined || stream.destroyed || text.length === 0) return
  if (!stream.write(text)) await Promise.race([once(stream, 'drain'), once(stream, 'close')])
}

/** Converts line breaks for a terminal, which needs a carriage return before each line feed. */
function withReturns(text: string | Buffer): string {
  return text.toString().replaceAll(/\r?\n/g, '\r\n')
}
