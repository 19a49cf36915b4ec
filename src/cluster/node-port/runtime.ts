/**
 * What a node offers to its port (`node-port.ts`): pods, and what can be done with their containers. A simulated node
 * implements it in memory; the port knows nothing else of a node.
 *
 * Every stream is bounded and slows its writer down, so an implementation may simply write, and wait where `write` says
 * so. Every call ends when its signal aborts, which it does when the client has left or the port closes.
 */
import type { Duplex, Readable, Writable } from 'node:stream'
import type { ApiObject } from '../../api/model/object.ts'
import type { TerminalSize } from '../../wire/streaming/terminal-sizes.ts'
import type { ContainerLog } from './container-log.ts'

/** One node. */
export interface NodeRuntime {
  readonly name: string
  /** The pods on this node, as objects of the API: `/pods` lists them. */
  pods(): readonly ApiObject[]
  /** A pod on this node; undefined where there is none. */
  pod(place: PodPlace): PodRuntime | undefined
  /** What the pods that run use at this moment: `/stats/summary` and `/metrics/resource` report it. */
  usage(): NodeUsage
}

/** What a node has, and what its pods use. Times are in milliseconds since 1970. */
export interface NodeUsage {
  readonly startedAt: number
  /** All memory that the node has. */
  readonly memoryBytes: number
  readonly pods: readonly PodUsage[]
}

/** What the containers of a pod use. */
export interface PodUsage extends PodPlace {
  readonly uid: string
  readonly startedAt: number
  readonly containers: readonly ContainerUsage[]
}

/** What a container that runs uses. */
export interface ContainerUsage {
  readonly name: string
  readonly startedAt: number
  /** Processors that it keeps busy now. */
  readonly cores: number
  /** Processor time since it started, in seconds: never less than before. */
  readonly coreSeconds: number
  readonly memoryBytes: number
}

/** Which pod. */
export interface PodPlace {
  readonly namespace: string
  readonly name: string
}

/** A pod on a node. */
export interface PodRuntime {
  readonly uid: string
  /** A container of the pod, of whatever sort; undefined where the pod has none of this name. */
  container(name: string): ContainerRuntime | undefined
  /**
   * Speaks for what listens on a port of the pod. Resolves when the connection is over. Rejects where nothing listens;
   * the message reaches the client. (A `for await` over the stream destroys it, and with it the way back.)
   */
  connect(port: number, stream: Duplex, signal: AbortSignal): Promise<void>
}

/** A container of a pod. */
export interface ContainerRuntime {
  /** Whether it runs now: only then can commands be run in it. */
  readonly isRunning: boolean
  /** What its present or last instance has printed, or the one before that. Undefined where there has been none. */
  log(instance: 'last' | 'previous'): ContainerLog | undefined
  /** Runs a command. Resolves with its exit code. Rejects where the command cannot be started. */
  exec(command: readonly string[], streams: ContainerStreams): Promise<number>
  /** Attaches to the main process. Resolves when that process has ended, or nothing is left to be said. */
  attach(streams: ContainerStreams): Promise<void>
}

/** The ends of a command's streams; those that the client did not ask for are undefined. */
export interface ContainerStreams {
  readonly stdin: Readable | undefined
  readonly stdout: Writable | undefined
  /** Undefined also with a terminal, where all output is one stream. */
  readonly stderr: Writable | undefined
  /** Set where the client has a terminal. */
  readonly terminal: Terminal | undefined
  /** Aborts when the client has left. */
  readonly signal: AbortSignal
}

/** The client's terminal. */
export interface Terminal {
  /** As last reported; undefined before that. */
  readonly size: TerminalSize | undefined
  /** Called for every size that is reported from now on. */
  onResize(run: (size: TerminalSize) => void): void
}
