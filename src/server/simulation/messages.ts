/** What the API server and the thread of the simulated nodes send each other, and what the thread is started with. */
import type { MessagePort } from 'node:worker_threads'
import type { ProfileName } from '../../api/model/vendor.ts'
import type { LogFields } from '../../base/telemetry/log.ts'
import type { ServingCertificate } from '../../cluster/node-port/serving-contexts.ts'
import type { NodeConnection } from '../threads/messages.ts'

export interface SimulationData {
  /** The thread acts as the agents of these nodes, and as nobody else. */
  readonly nodes: readonly string[]
  readonly capacity: { readonly [resource: string]: string }
  readonly profile: ProfileName
  readonly verbosity: number
  /** Undefined where volumes are not written. */
  readonly volumeDirectory: string | undefined
  /** The files of the flag `--node-stages` by their names; undefined where the flag names none. */
  readonly stageTexts: ReadonlyMap<string, string> | undefined
  /** PEM of the CA whose client certificates the port of the nodes accepts. */
  readonly clientAuthority: string
  /** The thread ends itself at this size of its heap, in bytes. */
  readonly maxHeapBytes: number
  /** Counts on while the event loop of the thread turns. */
  readonly heartbeat: Int32Array
}

/** A request of a node to the API server, and what becomes of it. `id` is chosen by the thread. */
export type RequestMessage =
  | {
      readonly type: 'request'
      readonly id: number
      /** The node whose agent sends the request. */
      readonly node: string
      readonly method: string
      readonly path: string
      readonly headers: { readonly [name: string]: string }
      readonly body: Uint8Array<ArrayBuffer> | undefined
    }
  /** The client leaves. */
  | { readonly type: 'abort'; readonly id: number }
  /** The client has read so many bytes of the response body. */
  | { readonly type: 'read'; readonly id: number; readonly bytes: number }

export type ResponseMessage =
  | {
      readonly type: 'head'
      readonly id: number
      readonly status: number
      readonly headers: { readonly [name: string]: string }
    }
  | { readonly type: 'chunk'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'broken'; readonly id: number; readonly why: string }

/** What a queue of the thread did since the last report. */
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
  /** A step of a loop lacks a right; undefined: it has it again. */
  | { readonly type: 'right'; readonly loop: string; readonly key: string; readonly refusal: string | undefined }

export type FromThread =
  | RequestMessage
  | RecordMessage
  /** Every key that there was at the start has been tried. */
  | { readonly type: 'first pass' }
  /** The port of the nodes listens. */
  | { readonly type: 'listening'; readonly port: number }
  /** A client connects to a node, whose serving certificate is needed. */
  | { readonly type: 'certificate'; readonly node: string }
  /** The thread is about to end itself. */
  | { readonly type: 'failed'; readonly why: string }

export type ToThread =
  | ResponseMessage
  | { readonly type: 'certificate'; readonly node: string; readonly certificate: ServingCertificate }
  /** A connection to a port of a pod. */
  | (NodeConnection & { readonly type: 'connect'; readonly port: MessagePort })
  /** To end in order. */
  | { readonly type: 'stop' }
