/** Defines the messages between the supervisor and its workers, and the data that a worker receives when it starts. */
import type { MessagePort } from 'node:worker_threads'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { Exposition } from '../../base/telemetry/exposition.ts'
import type { MetricSnapshot } from '../../base/telemetry/metric-sums.ts'
import type { MetricsPage } from '../../base/telemetry/metrics.ts'
import type { NodeAddress } from '../../cluster/node-port/local-nodes.ts'
import type { PodPlace } from '../../cluster/node-port/runtime.ts'
import type { ConsoleSecrets } from '../../tools/console/access.ts'
import type { ServerCommand } from '../flags/command-line.ts'
import type { SharedLimits, StoreAccess } from './worker-context.ts'

/** The data that a worker thread needs to start. */
export interface WorkerData {
  /**
   * Index of the worker, starting at 0. The first worker performs the duties that exist once per server: loops, upkeep
   * and the administrator's kubeconfig.
   */
  readonly index: number
  readonly command: ServerCommand
  readonly flags: readonly string[]
  /** Port on which all workers listen. */
  readonly port: number
  /** Whether this worker starts alone, before any others. If so, it checks whether the port is free. */
  readonly isFirst: boolean
  readonly store: StoreAccess
  /** Name of the BroadcastChannel of this server's workers. It is unique within the process. */
  readonly channel: string
  /** Secrets for verifying the console's sign-in links and sessions, if any. */
  readonly console: ConsoleSecrets | undefined
  readonly limits: SharedLimits
  /** Counter in shared memory that the worker increments periodically, so that the supervisor can detect a hang. */
  readonly heartbeat: Int32Array
}

/** Identifies the simulated node, the pod and the port to which a stream connects. */
export interface NodeConnection {
  readonly node: string
  readonly place: PodPlace
  readonly target: number
}

/**
 * Messages about simulated nodes, which are sent in both directions. A worker receives the nodes of all other workers.
 */
export type NodeMessage =
  | { readonly type: 'nodes'; readonly nodes: readonly NodeAddress[] }
  | (NodeConnection & { readonly type: 'connect'; readonly port: MessagePort })

/** A message that the supervisor sends to a worker. */
export type ToWorker =
  | NodeMessage
  /** Asks the worker to start serving. All workers emulate the version that the first worker determined. */
  | { readonly type: 'start'; readonly emulatedVersion: EmulatedVersion | undefined }
  /** Makes the worker report that it is not ready, because the server is about to stop. */
  | { readonly type: 'stopping' }
  /** Asks the worker to complete its running requests and exit. */
  | { readonly type: 'stop' }
  /** Tells the worker that no worker is listening anymore, so that it can close its connections. */
  | { readonly type: 'drain' }
  /**
   * Asks the worker to end each connection with this probability, so that the clients reconnect and may reach other
   * workers.
   */
  | { readonly type: 'move'; readonly chance: number }
  /** Asks the worker to stop listening, wait until all connections have ended, and exit. */
  | { readonly type: 'retire' }
  | { readonly type: 'sample'; readonly id: number }
  | { readonly type: 'exposition'; readonly id: number; readonly exposition: Exposition }

/** Delivers messages from the supervisor to a worker. */
export interface WorkerPort {
  postMessage(message: ToWorker, transfer?: readonly MessagePort[]): void
}

/** A message that a worker sends to the supervisor. */
export type ToSupervisor =
  | NodeMessage
  | { readonly type: 'ready'; readonly url: string; readonly emulatedVersion: EmulatedVersion }
  /** Reports that the worker has stopped listening. */
  | { readonly type: 'closed' }
  /** Reports that the worker could not start or cannot continue. */
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'samples'; readonly id: number; readonly metrics: readonly MetricSnapshot[] }
  /**
   * Requests a metrics page that combines the metrics of all workers. The message contains the metrics of the
   * requesting worker.
   */
  | {
      readonly type: 'expose'
      readonly id: number
      readonly page: MetricsPage
      readonly metrics: readonly MetricSnapshot[]
    }
