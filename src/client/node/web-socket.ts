/**
 * Client side of a WebSocket (RFC 6455) on an upgraded connection. Messages are sent and received as a whole. A sender
 * waits while the connection is full, and the connection is read only as fast as the caller iterates over the messages.
 * Protocol violations and oversized messages end the connection with an error.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { closeCodes, type Message, WebSocketFraming } from '../../wire/websocket/framing.ts'
import { TransportError } from '../requests/transport.ts'
import type { UpgradedConnection } from './upgrade.ts'

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/**
 * Returns the headers of a WebSocket handshake that offers the given protocols, and the `Sec-WebSocket-Accept` value to
 * expect.
 */
export function webSocketRequest(protocols: readonly string[]): {
  readonly headers: { readonly [name: string]: string }
  readonly accept: string
} {
  const key = randomBytes(16).toString('base64')
  const headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': protocols.join(', '),
  }
  return {
    headers,
    accept: createHash('sha1')
      .update(key + guid)
      .digest('base64'),
  }
}

const maxMessage = 16 * 1024 * 1024

/** A WebSocket connection. The caller that opens the connection closes it. */
export class WebSocketClient {
  /** Protocol that the server selected, or '' if it selected none. */
  readonly protocol: string
  readonly #socket: Duplex
  readonly #framing: WebSocketFraming
  readonly #head: Buffer
  #closing = false

  private constructor({ socket, head, headers }: UpgradedConnection, framing: WebSocketFraming) {
    this.#socket = socket
    this.#head = head
    this.#framing = framing
    this.protocol = headers['sec-websocket-protocol'] ?? ''
  }

  /**
   * Opens a WebSocket. `accept` is the expected value of the response's `Sec-WebSocket-Accept` header. Throws
   * TransportError if the value differs.
   */
  static async open(upgraded: UpgradedConnection, accept: string): Promise<WebSocketClient> {
    const { socket, headers } = upgraded
    // Prevents a crash. Reads from the socket and writes to it report the error.
    socket.on('error', () => {})
    if (headers['sec-websocket-accept'] !== accept) {
      socket.destroy()
      throw new TransportError('the server switched to a protocol other than WebSocket')
    }
    return new WebSocketClient(upgraded, await WebSocketFraming.open('client', maxMessage))
  }

  /** Sends a message. Resolves when the connection accepts more data. */
  async send(message: Uint8Array): Promise<void> {
    await this.#write(this.#framing.frame('binary', Buffer.from(message)))
  }

  /** Sends a close frame. Messages in transit still arrive. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    await this.#write(this.#framing.closeFrame(closeCodes.normal)).catch(() => {})
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /**
   * Yields the received messages. Ends when the server closes the connection. Throws TransportError if the connection
   * breaks.
   */
  async *messages(): AsyncGenerator<Buffer> {
    for await (const message of this.#received()) {
      switch (message.type) {
        case 'data':
          yield message.data
          break
        case 'ping':
          await this.#write(this.#framing.frame('pong', message.data))
          break
        case 'close':
          await this.close()
          this.#socket.end()
          return
        case 'fault':
          throw new TransportError(`the server violated the WebSocket protocol: ${message.reason}`)
      }
    }
    if (!this.#closing) throw new TransportError('the connection closed unexpectedly')
  }

  async *#received(): AsyncGenerator<Message> {
    yield* await this.#framing.read(this.#head)
    for await (const chunk of this.#socket) yield* await this.#framing.read(chunk)
  }

  async #write(frame: Buffer): Promise<void> {
    const free = this.#socket.write(frame)
    if (free || this.#socket.destroyed) return
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        this.#socket.off('drain', settle).off('close', settle)
        if (this.#socket.destroyed) reject(new TransportError('the connection closed unexpectedly'))
        else resolve()
      }
      this.#socket.on('drain', settle).on('close', settle)
    })
  }
}
