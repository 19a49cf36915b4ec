/**
 * Defines the interface between a connection and the request pipeline: a received request, with the methods to respond
 * to it. HTTP/1.1, HTTP/2 and the in-process transport implement it.
 */
import type { Duplex, Readable } from 'node:stream'
import type { User } from '../../api/model/user.ts'
import type { ShownCertificate } from '../authn/authenticator.ts'

/** Response headers as alternating lower-case names and values, which Node processes fastest. */
export type ResponseHeaders = string[]

/** The client at the other end of a connection. */
export interface Peer {
  readonly address: string
  readonly certificate: ShownCertificate | undefined
  /**
   * Records that a user was authenticated on the connection. Must be called for every authenticated request, because
   * unauthenticated connections are limited. The connection counts toward the limit of the first user. Returns the
   * reason for a rejection if this user has too many connections.
   */
  proved(user: User): string | undefined
  /** Whether a user has been authenticated on the connection. */
  readonly isProved: boolean
  /** Closes the connection once its running requests are complete, so that the client reconnects. */
  end(): void
}

/** The client's offer to switch the connection to another protocol. */
export interface UpgradeRequest {
  /** The value of the `Upgrade` header. */
  readonly protocols: string
  /** Sends a 101 response with these headers, and returns the upgraded connection. */
  switch(headers: ResponseHeaders): Duplex
}

/** Sizes in bytes of the unused memory before and after a chunk. */
export interface ChunkMargins {
  readonly before: number
  readonly after: number
}

/**
 * Margins that are large enough for HTTP/1.1 to write the size and line breaks around a chunk without copying the
 * chunk.
 */
export const chunkMargins: ChunkMargins = { before: 8, after: 2 }

/** A request, with the methods to respond to it. */
export interface ServerTransport {
  readonly method: string
  /** The path and query, unmodified. */
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  /** Whether the client disconnected before it received the complete response. */
  readonly disconnected: boolean
  /** A signal that aborts when the client disconnects. The signal is created on first use. */
  readonly signal: AbortSignal
  /**
   * The requested upgrade. Undefined if the client requests no upgrade, or if the upgrade is not allowed. Every
   * response except 101 closes the connection.
   */
  readonly upgrade?: UpgradeRequest | undefined
  /** Whether the client sends a body, even an empty one. */
  readonly hasBody: boolean
  /** The request body as a stream. The response may be sent before the body has been read. */
  readonly body: Readable
  /** The whole request body. Undefined if the body is incomplete or is read as a stream. */
  readonly bodyAtHand: Buffer | undefined
  /**
   * Whether the client has sent the whole body. Valid only after the end of the stream, because the stream of a
   * truncated body can also end.
   */
  readonly bodyWhole: boolean
  /** Sends a complete response. `unread` means that the request body is not needed. */
  send(status: number, headers: ResponseHeaders, body: Buffer, unread: boolean): void
  /** Resolves when the client has read the response or disconnected. */
  responseRead(): Promise<void>
  /** Starts a streamed response by sending its status and headers. */
  open(status: number, headers: ResponseHeaders): void
  /**
   * Writes a chunk of the response. Returns undefined if more can be written now. Otherwise returns a promise that
   * resolves when more can be written.
   */
  write(chunk: Buffer): Promise<void> | undefined
  /**
   * Writes a chunk. Resolves when the chunk has been flushed, so that its memory can be reused, or when the client has
   * disconnected. May overwrite the bytes in the margins around the chunk.
   */
  pass(chunk: Buffer, margins?: ChunkMargins): Promise<void>
  end(): void
  /** Aborts the response and drops unsent data, so that the client detects an incomplete response. */
  cut(): void
}
