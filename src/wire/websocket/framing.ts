/**
 * Messages of a WebSocket (RFC 6455) from the bytes of a connection, and frames for it, on either side. The package `ws`
 * parses and writes them. Its own connection is not used, because it also wants to do the handshake: here the connection
 * is already switched, by an HTTP server or client of our own (docs/decisions/0052-limits-of-a-connection.md).
 *
 * What a peer can make us hold is bounded: by the size of a message, and by the number of frames and parts that it
 * arrives in, since each keeps the TLS record alive in which it was. Extensions, and so compression, are not spoken.
 */
import type { Receiver, Sender } from 'ws'

/** What a peer has sent. */
export type Message =
  | { readonly type: 'data'; readonly data: Buffer }
  | { readonly type: 'ping'; readonly data: Buffer }
  | { readonly type: 'close' }
  /** The peer does not keep to the protocol. Nothing follows. */
  | { readonly type: 'fault'; readonly code: number; readonly reason: string }

/** Which side of the connection this is: a client masks what it sends, and a server insists on that. */
export type Side = 'server' | 'client'

const opcodes = { text: 1, binary: 2, close: 8, pong: 10 } as const
/** Why a connection is closed. */
export const closeCodes = { normal: 1000, protocolError: 1002 } as const
/** The codes for errors of `ws` that are no violations of the protocol. */
const faultCodes: { readonly [error: string]: number } = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 1009,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
}

/** Frames of one message, and parts of one frame. Browsers cut long messages into frames of 16 KiB at least. */
const maxFragments = 256
const maxBufferedChunks = 4096

/** Parses and writes the frames of one connection. */
export class WebSocketFraming {
  readonly #receiver: Receiver
  readonly #sender: typeof Sender
  readonly #isMasked: boolean
  #messages: Message[] = []

  private constructor(ws: typeof import('ws'), side: Side, maxMessageBytes: number) {
    const limits = { maxPayload: maxMessageBytes, maxFragments, maxBufferedChunks }
    this.#receiver = new ws.Receiver({ isServer: side === 'server', ...limits })
    this.#sender = ws.Sender
    this.#isMasked = side === 'client'
    this.#receiver.on('message', (data: Buffer) => this.#messages.push({ type: 'data', data }))
    this.#receiver.on('ping', (data: Buffer) => this.#messages.push({ type: 'ping', data }))
    this.#receiver.on('conclude', () => this.#messages.push({ type: 'close' }))
    // `read` reports it.
    this.#receiver.on('error', () => {})
  }

  /** Loads `ws` with the first connection: most servers and commands have none. */
  static async open(side: Side, maxMessageBytes: number): Promise<WebSocketFraming> {
    return new WebSocketFraming(await import('ws'), side, maxMessageBytes)
  }

  /** The messages that are complete with this. */
  async read(chunk: Buffer): Promise<readonly Message[]> {
    const error = await new Promise<Error | null | undefined>((resolve) => this.#receiver.write(chunk, resolve))
    const messages = this.#messages
    this.#messages = []
    if (error) messages.push(faultOf(error))
    return messages
  }

  /** A whole message, or a frame that controls the connection. */
  frame(type: keyof typeof opcodes, data: Buffer): Buffer {
    const options = { fin: true, opcode: opcodes[type], mask: this.#isMasked, readOnly: true, rsv1: false }
    return Buffer.concat(this.#sender.frame(data, options))
  }

  closeFrame(code: number): Buffer {
    return this.frame('close', Buffer.from([code >> 8, code & 0xff]))
  }
}

function faultOf(error: NodeJS.ErrnoException): Message {
  return { type: 'fault', code: faultCodes[error.code ?? ''] ?? closeCodes.protocolError, reason: error.message }
}
