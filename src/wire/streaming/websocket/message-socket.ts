/**
 * The server side of a WebSocket that carries only messages from the server. Messages are sent as fast as the client
 * reads them. Messages from the client are discarded, except for pings and the close frame.
 */
import type { Duplex } from 'node:stream'
import { isError } from '../../../base/text/errors.ts'
import { closeCodes, type WebSocketFraming } from '../../websocket/framing.ts'
import { waitForDrain } from '../wait-for-drain.ts'

/** Maximum time in milliseconds to wait for the client's close frame. */
const lingerMs = 2000

/** Maximum size in bytes of a message from the client. The server discards all messages from the client. */
export const maxReceivedBytes = 64 * 1024

/** A connection that has switched to the WebSocket protocol. */
export class MessageSocket {
  readonly #socket: Duplex
  readonly #framing: WebSocketFraming
  #hasSentClose = false

  /** Creates the socket. `onClosed` is called once, when the connection is closed. */
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

  /**
   * Sends a message. Returns undefined if more can be sent now. Otherwise returns a promise that resolves when more can
   * be sent or the connection is closed.
   */
  send(type: 'text' | 'binary', data: Buffer): Promise<void> | undefined {
    if (this.isOver) return undefined
    this.#socket.write(this.#framing.frame(type, data))
    return waitForDrain(this.#socket)
  }

  /** Sends a close frame. Closes the connection when the client responds, or after a short time. */
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
      // Ignore errors with a code, because they mean that the connection is broken.
      if (!(isError(error) && 'code' in error)) throw error
    } finally {
      this.#socket.end(() => this.#socket.destroy())
    }
  }

  async #read(): Promise<void> {
    // Keep the socket open for writing after reading ends, so that a close frame can be sent.
    const chunks = this.#socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    for await (const chunk of chunks)
      for (const message of await this.#framing.read(chunk)) {
        if (message.type === 'close' || message.type === 'fault') {
          this.#sendClose(message.type === 'close' ? closeCodes.normal : message.code)
          return
        }
        if (message.type === 'ping' && !this.isOver) {
          this.#socket.write(this.#framing.frame('pong', message.data))
          // Wait before reading on, so that a client that does not read its pongs cannot send more pings.
          await waitForDrain(this.#socket)
        }
      }
  }

  #sendClose(code: number): void {
    if (!this.isOver) this.#socket.write(this.#framing.closeFrame(code))
    this.#hasSentClose = true
  }
}
