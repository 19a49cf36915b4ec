/**
 * The interface between a connection and the request pipeline: a request, and methods to respond. Implemented for
 * HTTP/1.1, HTTP/2 and in-process requests.
 */
import type { Duplex, Readable } from 'node:stream'
import type { User } from '../../api/model/user.ts'
import type { ShownCertificate } from '../authn/authenticator.ts'

/** Alternating lower-case names and values, the format that Node processes fastest. */
export type ResponseHeaders = string[]

/** The other end of the connection. */
export interface Peer {
  readonly address: string
  readonly certificate: ShownCertificate | undefined
  /**
   * Call this when a request is authenticated, because unauthenticated connections are limited. The connection counts
   * for the first user. Returns the reason for a rejection if there are too many connections.
   */
  proved(user: User): string | undefined
  /** Whether a user has been authenticated on the connection. */
  readonly isProved: boolean
  /** Closes the connection after the running requests, so that the client reconnects. */
  end(): void
}

/** A client's request to switch the connection to another protocol. */
export interface UpgradeRequest {
  /** The offered protocols, as in the `Upgrade` header. */
  readonly protocols: string
  /** Answers with 101 and these headers, and returns the connection. */
  switch(headers: ResponseHeaders): Duplex
}

/** The transport's side of an exchange. */
export interface ServerTransport {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  /** Whether the client disconnected before the response was complete. */
  readonly disconnected: boolean
  /** Aborts when the client disconnects. Created on first use. */
  readonly signal: AbortSignal
  /** Set if the client asks to switch protocols and this is allowed. Any response except 101 closes the connection. */
  readonly upgrade?: UpgradeRequest | undefined
  /** Whether the request has a body, which may be empty. */
  readonly hasBody: boolean
  /** The request body. A handler that stops reading can still respond. */
  readonly body: Readable
  /** The whole body, if it has arrived and is not read as a stream. */
  readonly bodyAtHand: Buffer | undefined
  /** After the end of the stream: whether the client sent the whole body. A truncated stream may also end. */
  readonly bodyWhole: boolean
  /** Sends the whole response. `unread` means that the request has an unread body. */
  send(status: number, headers: ResponseHeaders, body: Buffer, unread: boolean): void
  /** Resolves when the client has read the response or disconnected. */
  responseRead(): Promise<void>
  /** Starts a streamed response. */
  open(status: number, headers: ResponseHeaders): void
  /** Returns undefined if there is room for more, or else a promise that resolves when there is. */
  write(chunk: Buffer): Promise<void> | undefined
  /** Resolves when the chunk has been flushed and its memory can be reused, or the client has disconnected. */
  pass(chunk: Buffer): Promise<void>
  end(): void
  /** Aborts the response, so that the client notices that it is incomplete. Unread data is dropped. */
  cut(): void
}
