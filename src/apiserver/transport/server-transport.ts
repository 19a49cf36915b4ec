/**
 * What a connection offers the request pipeline: a request, and the ways to answer it. HTTP/1.1 and HTTP/2 implement it,
 * as does the transport within the process.
 */
import type { Duplex, Readable } from 'node:stream'
import type { User } from '../../api/model/user.ts'
import type { ShownCertificate } from '../authn/authenticator.ts'

/** Names in lower case, each followed by its value: the form that Node processes fastest. */
export type ResponseHeaders = string[]

/** The other end of the connection. */
export interface Peer {
  readonly address: string
  readonly certificate: ShownCertificate | undefined
  /**
   * To be called when a request is authenticated: unauthenticated connections are limited. The connection counts for the
   * first user. Returns why it is rejected, where that user has too many.
   */
  proved(user: User): string | undefined
  /** Whether a user was authenticated on the connection. */
  readonly isProved: boolean
  /** Ends the connection once what is under way is answered, so that the client connects anew. */
  end(): void
}

/** A client's wish to go on in another protocol, on a connection that carries nothing else from then on. */
export interface UpgradeRequest {
  /** The protocols that it would take, as in the header `Upgrade`. */
  readonly protocols: string
  /** Answers with 101 and these headers, and hands over the connection. */
  switch(headers: ResponseHeaders): Duplex
}

/** The transport's side of an exchange. */
export interface ServerTransport {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  /** Whether the client is gone before the answer is complete. */
  readonly gone: boolean
  /** Aborts when the client is gone; made when first asked for. */
  readonly signal: AbortSignal
  /** Set where the client asks to switch protocols and may be given that; any answer but 101 ends the connection. */
  readonly upgrade?: UpgradeRequest | undefined
  /** Whether the request has a body, if perhaps an empty one. */
  readonly hasBody: boolean
  /** The request's body. A handler that stops reading can still answer. */
  readonly body: Readable
  /** All of the body, where it has come already and nobody has asked for the stream. */
  readonly bodyAtHand: Buffer | undefined
  /**
   * Once the body's stream has ended: whether that is where the client ended it. A stream that broke off may end too.
   */
  readonly bodyWhole: boolean
  /** The whole answer at once. `unread`: there is a body that nobody has read. */
  send(status: number, headers: ResponseHeaders, body: Buffer, unread: boolean): void
  /** Resolves when the client has taken the answer that was sent, or is gone. */
  taken(): Promise<void>
  /** The beginning of an answer that comes in parts. */
  open(status: number, headers: ResponseHeaders): void
  /** Undefined when there is room for more; else resolves when there is. */
  write(chunk: Buffer): Promise<void> | undefined
  /** Resolves when the chunk is on its way and its memory may be used again, or nobody is left to write to. */
  pass(chunk: Buffer): Promise<void>
  end(): void
  /** Breaks the answer off, so that the client sees that it is not complete; what was not read is dropped. */
  cut(): void
}
