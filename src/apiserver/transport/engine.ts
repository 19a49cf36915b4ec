/**
 * The HTTP engines: who reads requests from an accepted connection and writes answers to it. `orch` is our own code
 * (`http1/`, `http2/`), `node` the HTTP modules of Node (`node/`), a fallback for the day on which our own has a flaw. Both
 * produce a `ServerTransport`. Everything else is shared: TLS, the limits on connections, and how a server stops.
 */
import type { Socket } from 'node:net'
import type { Times } from './connection-limits.ts'
import type { Peer, ServerTransport } from './server-transport.ts'

/** The values of `--http-engine`. */
export const httpEngineNames = ['orch', 'node'] as const
export type HttpEngineName = (typeof httpEngineNames)[number]

/** What a connection of HTTP/1.1 asks of the server that it belongs to. */
export interface ConnectionOwner {
  readonly onRequest: (transport: ServerTransport) => void
  /** Whether a request for this path and query may be answered by switching protocols. */
  readonly maySwitch: (target: string) => boolean
}

/** A connection of HTTP/1.1. */
export interface Http1Link {
  readonly socket: Socket
  /** How many requests there have been. */
  readonly requests: number
  /** The answer to the request that is under way, or else to the next one, is the last. `onIdle`: there is none. */
  endSoon(onIdle: () => void): void
  /** Says that nothing more will come, and gives the other side time to say so too. */
  end(): void
  /** Cuts off a client that is too slow, does not take its answer, or has had one and asks for nothing more. */
  check(now: number, times: Times): void
}

/** What a connection of HTTP/2 asks of the server that it belongs to. */
export interface Http2Owner {
  readonly times: Times
  readonly onRequest: (transport: ServerTransport) => void
}

/** A connection of HTTP/2. */
export interface Http2Link {
  /** No further requests; those under way are answered. */
  close(): void
  /** Cuts off a client that is too slow, does not take its answers, or has been idle for too long. */
  check(now: number): void
}

/** Begins to read connections. */
export interface HttpEngine {
  openHttp1(socket: Socket, peer: Peer, owner: ConnectionOwner): Http1Link
  openHttp2(socket: Socket, peer: Peer, owner: Http2Owner): Http2Link
}
