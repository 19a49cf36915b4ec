/**
 * The server's side of a WebSocket that only sends: one message after another, at the pace of the client. What the client
 * sends is read and dropped, but for pings and its closing frame.
 */
import type { Duplex } from 'node:stream'
import { isError } from '../../../base/text/errors.ts'
import { closeCodes, type WebSocketFraming } from '../../websocket/framing.ts'
import { roomOn } from '../room-on.ts'

/** How long a client may take to answer the closing frame. */
const lingerMs = 2000

/** The maximum size of a message that the client may send; all are dropped. */
export const maxReceivedBytes = 64 * 1024

/** One connection, from its switch to WebSocket on. */
export class MessageSocket {
  readonly #socket: Duplex
  readonly #framing: WebSocketFraming
  #hasSentClose = false

  /** `onClosed` is called once, when the connection is over. */
  constructor(socket: Duplex, framing: WebSocketFraming, onClosed: () => void) {
    this.#socket = socket
    this.#framing = framing
    socket.on('error', () => {})
    socket.once('close', onClosed)
    void this.#run()
  }

  get isOver(): boolean {
    return this.#hasSentClose || this.#socket.destroyed || !this.#socket.writable
  }

  /** Undefined when there is room for more; else resolves when there is, or when the connection is over. */
  send(type: 'text' | 'binary', data: Buffer): Promise<void> | undefined {
    if (this.isOver) return undefined
    this.#socket.write(this.#framing.frame(type, data))
    return roomOn(this.#socket)
  }

  /** Sends the closing frame. Ends the connection when the client answers it, or after a moment. */
  end(): void {
    this.#sendClose(closeCodes.normal)
    if (this.#socket.destroyed) return
    const timer = setTimeout(() => this.destroy(), lingerMs).unref()
    this.#socket.once('close', () => clearTimeout(timer))
  }

  destroy(): void {
    this.#socket.destroy()
  }

  async #run(): Promise<void> {
    try {
      await this.#read()
    } catch (error) {
      // The connection broke: an error of the socket has a code.
      if (!(isError(error) && 'code' in error)) throw error
    } finally {
      this.#socket.end(() => this.#socket.destroy())
    }
  }

  async #read(): Promise<void> {
    // Reading does not close the socket, so that a closing frame can still be sent.
    const chunks = this.#socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    for await (const chunk of chunks)
      for (const message of await this.#framing.read(chunk)) {
        if (message.type === 'close' || message.type === 'fault') {
          this.#sendClose(message.type === 'close' ? closeCodes.normal : message.code)
          return
        }
        if (message.type === 'ping' && !this.isOver) {
          this.#socket.write(this.#framing.frame('pong', message.data))
          // Nothing more is read of a client that does not read the answers.
          await roomOn(this.#socket)
        }
      }
  }

  #sendClose(code: number): void {
    if (!this.isOver) this.#socket.write(this.#framing.closeFrame(code))
    this.#hasSentClose = true
  }
}
