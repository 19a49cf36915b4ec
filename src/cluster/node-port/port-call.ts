/** Types for requests to a node's port and their responses. */
import type { IncomingMessage } from 'node:http'
import type { NodeRuntime } from './runtime.ts'

/** A request that has passed authentication and authorization. */
export interface PortCall {
  readonly node: NodeRuntime
  readonly request: IncomingMessage
  readonly url: URL
  /** Aborts when the client disconnects or the port closes. */
  readonly signal: AbortSignal
  readonly idleMs: number
  readonly openMs: number
  readonly now: () => number
}

export interface Refusal {
  readonly status: number
  readonly text: string
  readonly headers?: { readonly [name: string]: string }
}

export interface Answer {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  readonly text?: string
  /** The response body in chunks. Each chunk is requested only after the client has read the previous chunk. */
  readonly parts?: AsyncIterable<Buffer>
}
