/**
 * Defines the HTTP engines, which read requests and write responses on accepted connections. The engine `orch` is this
 * project's implementation (`http1/`, `http2/`). The engine `node` uses Node's HTTP modules (`node/`) and is a fallback
 * in case `orch` has a flaw. Both engines provide a `ServerTransport`, and share the code for TLS, connection limits
 * and shutdown.
 */
import type { Socket } from 'node:net'
import type { Times } from './connection-limits.ts'
import type { Peer, ServerTransport } from './server-transport.ts'

/** The allowed values of `--http-engine`. */
export const httpEngineNames = ['orch', 'node'] as const
export type HttpEngineName = (typeof httpEngineNames)[number]

/** The server's callbacks for requests on an HTTP/1.1 connection. */
export interface ConnectionOwner {
  readonly onRequest: (transport: ServerTransport) => void
  /** Returns whether a request to this URL may be upgraded to another protocol. */
  readonly maySwitch: (target: string) => boolean
}

/** The methods of an HTTP/1.1 connection that the server uses to supervise and close it. */
export interface Http1Link {
  readonly socket: Socket
  /** Number of requests that have arrived on the connection. */
  readonly requests: number
  /**
   * Closes the connection after the response to the current request. If there is no current request, calls `onIdle` and
   * closes the connection after the response to the next request.
   */
  endSoon(onIdle: () => void): void
  /** Closes the server's side of the connection and gives the client time to close its side. */
  end(): void
  /** Disconnects a client that is too slow, does not read its response, or has been idle for too long. */
  check(now: number, times: Times): void
}

/** The server's timeouts and callbacks for an HTTP/2 connection. */
export interface Http2Owner {
  readonly times: Times
  readonly onRequest: (transport: ServerTransport) => void
}

/** The methods of an HTTP/2 connection that the server uses to supervise and close it. */
export interface Http2Link {
  /** Rejects new requests. Running requests are completed. */
  close(): void
  /** Disconnects a client that is too slow, does not read its responses, or has been idle for too long. */
  check(now: number): void
}

/** An implementation of HTTP/1.1 and HTTP/2 on accepted TLS connections. */
export interface HttpEngine {
  openHttp1(socket: Socket, peer: Peer, owner: ConnectionOwner): Http1Link
  openHttp2(socket: Socket, peer: Peer, owner: Http2Owner): Http2Link
}
