/**
 * The HTTP engines, which read requests and write responses on accepted connections. `orch` is our own implementation
 * (`http1/`, `http2/`). `node` uses Node's HTTP modules (`node/`), as a fallback in case ours has a flaw. Both provide
 * a `ServerTransport`. Everything else is shared: TLS, connection limits and shutdown.
 */
import type { Socket } from 'node:net'
import type { Times } from './connection-limits.ts'
import type { Peer, ServerTransport } from './server-transport.ts'

/** The values of `--http-engine`. */
export const httpEngineNames = ['orch', 'node'] as const
export type HttpEngineName = (typeof httpEngineNames)[number]

/** The callbacks of an HTTP/1.1 connection. */
export interface ConnectionOwner {
  readonly onRequest: (transport: ServerTransport) => void
  /** Whether a request for this target may be answered by switching protocols. */
  readonly maySwitch: (target: string) => boolean
}

/** An HTTP/1.1 connection. */
export interface Http1Link {
  readonly socket: Socket
  /** Number of requests received. */
  readonly requests: number
  /**
   * Makes the response to the current request, or else to the next one, the last. Calls `onIdle` if there is no current
   * request.
   */
  endSoon(onIdle: () => void): void
  /** Closes our side and gives the client time to close its side. */
  end(): void
  /** Disconnects a client that is too slow, does not read its response, or is idle for too long. */
  check(now: number, times: Times): void
}

/** The callbacks of an HTTP/2 connection. */
export interface Http2Owner {
  readonly times: Times
  readonly onRequest: (transport: ServerTransport) => void
}

/** An HTTP/2 connection. */
export interface Http2Link {
  /** Accepts no further requests. Running requests are completed. */
  close(): void
  /** Disconnects a client that is too slow, does not read its responses, or is idle for too long. */
  check(now: number): void
}

/** Starts reading from connections. */
export interface HttpEngine {
  openHttp1(socket: Socket, peer: Peer, owner: ConnectionOwner): Http1Link
  openHttp2(socket: Socket, peer: Peer, owner: Http2Owner): Http2Link
}
