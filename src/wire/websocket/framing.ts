/**
 * Parses and creates WebSocket frames (RFC 6455), for either side of a connection. The package `ws` parses and formats
 * the frames. The connection class of `ws` is not used, because it always performs the handshake itself. In this
 * program, the HTTP server or client has already switched the connection
 * (docs/decisions/0052-limits-of-a-connection.md).
 *
 * The memory that a peer can occupy is limited by the message size and by the number of frames and chunks per message,
 * because each frame and chunk keeps its TLS record in memory. Extensions, including compression, are not supported.
 */
import type { Receiver, Sender } from 'ws'

/** A message or control frame from the peer. */
export type Message =
  | { readonly type: 'data'; readonly data: Buffer }
  | { readonly type: 'ping'; readonly data: Buffer }
  | { readonly type: 'close' }
  /** A protocol violation by the peer. The connection must be closed. */
  | { readonly type: 'fault'; readonly code: number; readonly reason: string }

/** The side of a WebSocket connection. Clients must mask their frames, and servers reject unmasked frames. */
export type Side = 'server' | 'client'

const opcodes = { text: 1, binary: 2, close: 8, pong: 10 } as const
/** The close codes that this program sends. */
export const closeCodes = { normal: 1000, protocolError: 1002 } as const
/** Close codes for the `ws` errors that have a specific close code. All other errors are protocol errors. */
const faultCodes: { readonly [error: string]: number } = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 1009,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
}

/**
 * Maximum number of frames per message, and of chunks per frame. Browsers split long messages into frames of at least
 * 16 KiB.
 */
const maxFragments = 256
const maxBufferedChunks = 4096

/** Parses and creates the frames of one connection. */
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
    // `read` reports the error, so this listener only prevents a crash.
    this.#receiver.on('error', () => {})
  }

  /**
   * Creates the framing of a connection. The package `ws` is loaded for the first connection, because most servers and
   * commands never need it.
   */
  static async open(side: Side, maxMessageBytes: number): Promise<WebSocketFraming> {
    return new WebSocketFraming(await import('ws'), side, maxMessageBytes)
  }

  /** Parses a chunk of received data. Returns the messages that are now complete. */
  async read(chunk: Buffer): Promise<readonly Message[]> {
    const error = await new Promise<Error | null | undefined>((resolve) => this.#receiver.write(chunk, resolve))
    const messages = this.#messages
    this.#messages = []
    if (error) messages.push(faultOf(error))
    return messages
  }

  /** Returns a frame that contains a whole message, or a control frame. */
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
