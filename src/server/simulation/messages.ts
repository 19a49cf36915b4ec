/**
 * Defines the messages between the API server and the simulation thread, and the data that the thread receives when it
 * starts.
 */

import type { MessagePort } from 'node:worker_threads'
import type { ProfileName } from '../../api/model/vendor.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { LogFields } from '../../base/telemetry/log.ts'
import type { ServingCertificate } from '../../cluster/node-port/serving-contexts.ts'
import type { SimulatedDevices } from '../../cluster/nodes/devices/node-devices.ts'
import type { NodeConnection } from '../threads/messages.ts'

export interface SimulationData {
  /** Names of the simulated nodes. The thread cannot act as the agent of any other node. */
  readonly nodes: readonly string[]
  readonly capacity: { readonly [resource: string]: string }
  readonly kubernetesVersion: EmulatedVersion
  /** Factor by which the containers run faster than real time. */
  readonly speed: number
  readonly profile: ProfileName
  readonly verbosity: number
  /** The directory for volumes. Undefined if volumes are not written. */
  readonly volumeDirectory: string | undefined
  /** The contents of the `--node-stages` files, by file name. Undefined if the flag is not set. */
  readonly stageTexts: ReadonlyMap<string, string> | undefined
  /** The devices of every node. Undefined if the flag `--node-devices` is not set. */
  readonly devices: readonly SimulatedDevices[] | undefined
  /** The directory of log files for Logs objects. Undefined if no log files may be read. */
  readonly logDirectory: string | undefined
  /** The CA whose client certificates the nodes' port accepts, in PEM format. */
  readonly clientAuthority: string
  /** Maximum heap size in bytes. The thread exits when it reaches this size. */
  readonly maxHeapBytes: number
  /** Counter in shared memory that the thread increments periodically, so that the host can detect a hang. */
  readonly heartbeat: Int32Array
}

/** A message about a request that a node sends to the API server. The thread chooses `id`. */
export type RequestMessage =
  | {
      readonly type: 'request'
      readonly id: number
      /** Name of the node whose agent sends the request. */
      readonly node: string
      readonly method: string
      readonly path: string
      readonly headers: { readonly [name: string]: string }
      /** Body of the request, if any. */
      readonly data: Uint8Array<ArrayBuffer> | undefined
    }
  /** Reports that the client aborted the request. */
  | { readonly type: 'abort'; readonly id: number }
  /** Reports how many bytes of the response body the client has read, so that the server can send more. */
  | { readonly type: 'read'; readonly id: number; readonly bytes: number }

export type ResponseMessage =
  | {
      readonly type: 'head'
      readonly id: number
      readonly status: number
      readonly headers: { readonly [name: string]: string }
    }
  | { readonly type: 'chunk'; readonly id: number; readonly data: Uint8Array<ArrayBuffer> }
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'broken'; readonly id: number; readonly why: string }

/** Activity of a work queue in the thread since its last report. */
export interface QueueReport {
  readonly name: string
  readonly adds: number
  readonly retries: number
  readonly waitingSeconds: readonly number[]
  readonly workingSeconds: readonly number[]
  readonly depth: number
  readonly underWaySeconds: readonly number[]
}

export type RecordMessage =
  | {
      readonly type: 'log'
      readonly severity: 'info' | 'warn' | 'error'
      readonly message: string
      readonly fields: LogFields
    }
  | { readonly type: 'queues'; readonly reports: readonly QueueReport[] }
  /** A loop lacks a permission for a key. If `refusal` is undefined, the loop has regained the permission. */
  | { readonly type: 'right'; readonly loop: string; readonly key: string; readonly refusal: string | undefined }

export type FromThread =
  | { readonly type: 'requests'; readonly messages: readonly RequestMessage[] }
  | RecordMessage
  /** All keys that existed at the start have been reconciled once. */
  | { readonly type: 'first pass' }
  /** Reports that the shared port of the nodes is open. */
  | { readonly type: 'listening'; readonly port: number }
  /** Requests the serving certificate of a node to which a client is connecting. */
  | { readonly type: 'certificate'; readonly node: string }
  /** Asks the server for the address of the host to which a port is forwarded. The thread chooses `id`. */
  | { readonly type: 'resolve'; readonly id: number; readonly host: string; readonly port: number }
  /** The thread cannot continue and is about to exit. */
  | { readonly type: 'failed'; readonly why: string }

export type ResolvedHost = { readonly address: string } | { readonly why: string }

export type ToThread =
  | { readonly type: 'responses'; readonly messages: readonly ResponseMessage[] }
  | { readonly type: 'certificate'; readonly node: string; readonly certificate: ServingCertificate }
  /** The address of a host, or the reason why the thread must not connect to the host. */
  | { readonly type: 'resolved'; readonly id: number; readonly outcome: ResolvedHost }
  /** Opens a stream to a port of a pod. `port` carries the data. */
  | (NodeConnection & { readonly type: 'connect'; readonly port: MessagePort })
  /** Asks the thread to stop gracefully. */
  | { readonly type: 'stop' }
