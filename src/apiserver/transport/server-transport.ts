/**
 * The interface between a connection and the request pipeline: a request, and methods to respond to it. Implemented for
 * HTTP/1.1, HTTP/2 and requests within the process.
 */
import type { Duplex, Readable } from 'node:stream'
import type { User } from '../../api/model/user.ts'
import type { ShownCertificate } from '../authn/authenticator.ts'

/** Alternating lower-case names and values of headers. This is the format that Node processes fastest. */
export type ResponseHeaders = string[]

/** The client at the other end of a connection. */
export interface Peer {
  readonly address: string
  readonly certificate: ShownCertificate | undefined
  /**
   * Records that a request on the connection was authenticated. Must be called for every such request, because
   * unauthenticated connections are limited. The connection counts for the first user. Returns the reason for a
   * rejection if there are too many connections.
   */
  proved(user: User): string | undefined
  /** Whether a user has been authenticated on the connection. */
  readonly isProved: boolean
  /** Closes the connection after the running requests. The client then reconnects. */
  end(): void
}

/** A client's request to switch the connection to another protocol. */
export interface UpgradeRequest {
  /** The offered protocols, as in the `Upgrade` header. */
  readonly protocols: string
  /** Responds with 101 and these headers, and returns the connection. */
  switch(headers: ResponseHeaders): Duplex
}

/** Number of unused bytes before and after a chunk. */
export interface ChunkMargins {
  readonly before: number
  readonly after: number
}

/** The margins that HTTP/1.1 needs to frame a chunk in place, without a copy. */
export const chunkMargins: ChunkMargins = { before: 8, after: 2 }

/** The transport's side of an exchange. */
export interface ServerTransport {
  readonly method: string
  /** The path and query as sent. */
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  /** Whether the client disconnected before the response was complete. */
  readonly disconnected: boolean
  /** Aborts when the client disconnects. Created on first use. */
  readonly signal: AbortSignal
  /**
   * The upgrade that the client requests. Undefined if it requests none or the upgrade is not allowed. Any response
   * except 101 closes the connection.
   */
  readonly upgrade?: UpgradeRequest | undefined
  /** Whether the request has a body, which may be empty. */
  readonly hasBody: boolean
  /** The request body. A handler that stops reading can still respond. */
  readonly body: Readable
  /** The whole body. Undefined if it has not arrived yet or is read as a stream. */
  readonly bodyAtHand: Buffer | undefined
  /**
   * Whether the client sent the whole body. Valid after the end of the stream, because a truncated stream may also end.
   */
  readonly bodyWhole: boolean
  /** Sends the whole response. `unread` means that the request has an unread body. */
  send(status: number, headers: ResponseHeaders, body: Buffer, unread: boolean): void
  /** Resolves when the client has read the response or disconnected. */
  responseRead(): Promise<void>
  /** Starts a streamed response. */
  open(status: number, headers: ResponseHeaders): void
  /**
   * Writes a chunk. Returns undefined if there is room for more data, and otherwise a promise that resolves when there
   * is.
   */
  write(chunk: Buffer): Promise<void> | undefined
  /**
   * Writes a chunk. Resolves when it has been flushed and its memory can be reused, or when the client has
   * disconnected. The transport may overwrite the bytes in the margins around the chunk.
   */
  pass(chunk: Buffer, margins?: ChunkMargins): Promise<void>
  end(): void
  /** Aborts the response, so that the client notices that it is incomplete. Unread data is dropped. */
  cut(): void
}
