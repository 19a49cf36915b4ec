/** What the supervisor and its workers say to each other, and what a worker is started with. */
import type { MessagePort } from 'node:worker_threads'
import type { Exposition } from '../../base/telemetry/exposition.ts'
import type { MetricSnapshot } from '../../base/telemetry/metric-sums.ts'
import type { NodeAddress } from '../../cluster/node-port/local-nodes.ts'
import type { PodPlace } from '../../cluster/node-port/runtime.ts'
import type { ConsoleSecrets } from '../../tools/console/access.ts'
import type { ServerCommand } from '../flags/command-line.ts'
import type { SharedLimits, StoreAccess } from './worker-place.ts'

/** The data that the supervisor starts a worker thread with. */
export interface WorkerData {
  /** From 0 on. The first one has the duties that are done once: loops, upkeep, the administrator's kubeconfig. */
  readonly index: number
  readonly command: ServerCommand
  readonly flags: readonly string[]
  /** The port that all workers listen on. */
  readonly port: number
  readonly store: StoreAccess
  /** The name of a BroadcastChannel of all workers of this server, and of no other in the same process. */
  readonly channel: string
  /** By which all workers know the sessions of the console. */
  readonly console: ConsoleSecrets | undefined
  readonly limits: SharedLimits
  /** Counts on while the event loop of the worker turns. */
  readonly heartbeat: Int32Array
}

/** A port of a pod on a simulated node. */
export interface NodeConnection {
  readonly node: string
  readonly place: PodPlace
  readonly target: number
}

/** What is said in both directions of simulated nodes: to a worker, of those of the others. */
export type NodeMessage =
  | { readonly type: 'nodes'; readonly nodes: readonly NodeAddress[] }
  | (NodeConnection & { readonly type: 'connect'; readonly port: MessagePort })

/** A message from the supervisor to a worker. */
export type ToWorker =
  | NodeMessage
  /** What it needs is there. */
  | { readonly type: 'start' }
  /** The server is about to stop: from now on it is not ready. */
  | { readonly type: 'stopping' }
  /** To let what is under way finish, and end. */
  | { readonly type: 'stop' }
  /** No worker listens any more. */
  | { readonly type: 'drain' }
  | { readonly type: 'sample'; readonly id: number }
  | { readonly type: 'exposition'; readonly id: number; readonly exposition: Exposition }

/** A message from a worker to the supervisor. */
export type ToSupervisor =
  | NodeMessage
  | { readonly type: 'ready'; readonly url: string }
  /** It listens no more. */
  | { readonly type: 'closed' }
  /** It could not start. */
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'samples'; readonly id: number; readonly metrics: readonly MetricSnapshot[] }
  /** A client asks for the metrics of all workers; these are the sender's own. */
  | { readonly type: 'expose'; readonly id: number; readonly metrics: readonly MetricSnapshot[] }
