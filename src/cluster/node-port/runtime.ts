/**
 * The interface between a node and its port (`node-port.ts`): pods, and operations on their containers. Simulated nodes
 * implement it in memory. The port accesses a node only through this interface.
 *
 * Every stream has a limited buffer and applies backpressure: when `write` returns false, an implementation must wait
 * before it writes more. Every call ends when its signal aborts, which happens when the client disconnects or the port
 * closes.
 */
import type { Duplex, Readable, Writable } from 'node:stream'
import type { ApiObject } from '../../api/model/object.ts'
import type { TerminalSize } from '../../wire/streaming/terminal-sizes.ts'
import type { ContainerLog } from './container-log.ts'

/** A node, as seen by the HTTPS server of its port. */
export interface NodeRuntime {
  readonly name: string
  /** Whether the node responds. If a node is down or partitioned, connections to it break. */
  readonly isReachable: boolean
  /** Returns the pods on this node as API objects, for the path `/pods`. */
  pods(): readonly ApiObject[]
  /** Returns a pod on this node, or undefined if the pod does not exist. */
  pod(place: PodPlace): PodRuntime | undefined
  /** Returns the current usage of the running pods, for `/stats/summary` and `/metrics/resource`. */
  usage(): NodeUsage
  /**
   * Returns the metrics at a path that begins with `metrics`, in the Prometheus text format. Returns undefined if the
   * node has no metrics of its own at this path.
   */
  metrics?(path: readonly string[]): Promise<AsyncIterable<Buffer> | undefined>
}

/** Total memory of a node and the usage of its pods. Times are in milliseconds since 1970. */
export interface NodeUsage {
  readonly startedAt: number
  /** Total memory of the node. */
  readonly memoryBytes: number
  readonly pods: readonly PodUsage[]
}

/** Resource usage of a pod's containers. */
export interface PodUsage extends PodPlace {
  readonly uid: string
  readonly startedAt: number
  readonly containers: readonly ContainerUsage[]
}

/** Resource usage of a running container. */
export interface ContainerUsage {
  readonly name: string
  readonly startedAt: number
  /** Number of CPU cores in use. */
  readonly cores: number
  /** Total CPU time since the container started, in seconds. Never decreases. */
  readonly coreSeconds: number
  readonly memoryBytes: number
}

/** Namespace and name of a pod. */
export interface PodPlace {
  readonly namespace: string
  readonly name: string
}

/** A pod, as seen by the HTTPS server of its node's port. */
export interface PodRuntime {
  readonly uid: string
  /** Returns a container of any type, or undefined if the pod has no container with this name. */
  container(name: string): ContainerRuntime | undefined
  /**
   * Serves a connection to a port of the pod. Resolves when the connection is closed. If the pod is not listening on
   * the port, rejects with an error whose message is sent to the client. Note that a `for await` loop over the stream
   * destroys the stream in both directions.
   */
  connect(port: number, stream: Duplex, signal: AbortSignal): Promise<void>
}

/** A container, as seen by the HTTPS server of its node's port. */
export interface ContainerRuntime {
  /** Whether the container is running. Commands require a running container. */
  readonly isRunning: boolean
  /**
   * Returns the log of the previous instance, or of the last instance, which may still be running. Returns undefined if
   * there is no such instance. If a signal is given, the log may grow until the signal aborts.
   */
  log(instance: 'last' | 'previous', signal?: AbortSignal): ContainerLog | undefined
  /** Runs a command and resolves with its exit code. Rejects if the command cannot be started. */
  exec(command: readonly string[], streams: ContainerStreams): Promise<number>
  /** Attaches to the main process. Resolves when the process has ended or produces no more output. */
  attach(streams: ContainerStreams): Promise<void>
}

/** Streams of a command. Streams that the client did not request are undefined. */
export interface ContainerStreams {
  readonly stdin: Readable | undefined
  readonly stdout: Writable | undefined
  /**
   * The standard error stream. Undefined if the client did not request it or has a terminal, because a terminal
   * receives all output in one stream.
   */
  readonly stderr: Writable | undefined
  /** The terminal of the client. Undefined if the client has no terminal. */
  readonly terminal: Terminal | undefined
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

/** The terminal of an exec or attach client. */
export interface Terminal {
  /** The terminal size that the client reported last. Undefined before the first report. */
  readonly size: TerminalSize | undefined
  /** Calls `run` for every terminal size that the client reports from now on. */
  onResize(run: (size: TerminalSize) => void): void
}
