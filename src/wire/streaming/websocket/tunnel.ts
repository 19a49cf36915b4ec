/**
 * The server side of a tunnel through a WebSocket. The tunnel carries the bytes of another protocol in binary messages,
 * and message boundaries have no meaning. The server reads from the client only as fast as the other side of the tunnel
 * accepts the data.
 */
import { Duplex } from 'node:stream'
import { isError } from '../../../base/text/errors.ts'
import { closeCodes, type Message, WebSocketFraming } from '../../websocket/framing.ts'
import { waitForDrain } from '../wait-for-drain.ts'

const maxMessageBytes = 1024 * 1024

/** Opens a tunnel on a connection that has just switched to the WebSocket protocol. */
export async function openTunnel(socket: Duplex): Promise<Duplex> {
  return new Tunnel(socket, await WebSocketFraming.open('server', maxMessageBytes))
}

class Tunnel extends Duplex {
  readonly #socket: Duplex
  readonly #framing: WebSocketFraming
  #onRoom: (() => void) | undefined
  #hasSentClose = false

  constructor(socket: Duplex, framing: WebSocketFraming) {
    super({ emitClose: true })
    this.#socket = socket
    this.#framing = framing
    socket.on('error', () => {})
    socket.on('close', () => this.destroy())
    void this.#run()
  }

  override _read(): void {
    this.#onRoom?.()
    this.#onRoom = undefined
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(this.#framing.frame('binary', chunk), done)
  }

  override _final(done: () => void): void {
    this.#sendClose(closeCodes.normal, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this._read()
    // Close the socket only after flushing, so that the client receives the close frame.
    this.#socket.end(() => this.#socket.destroy())
    done(error)
  }

  async #run(): Promise<void> {
    try {
      // Keep the socket open for writing after reading ends, so that a close frame can be sent.
      const chunks = this.#socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
      for await (const chunk of chunks)
        for (const message of await this.#framing.read(chunk)) {
          if (this.destroyed || this.#isEnd(message)) return
          await this.#take(message)
        }
    } catch (error) {
      // Ignore errors with a code, because they mean that the connection is broken.
      if (!(isError(error) && 'code' in error)) throw error
    } finally {
      this.push(null)
    }
  }

  #isEnd(message: Message): boolean {
    if (message.type !== 'close' && message.type !== 'fault') return false
    this.#sendClose(message.type === 'close' ? closeCodes.normal : message.code, () => {})
    return true
  }

  #take(message: Message): Promise<void> | undefined {
    if (message.type === 'ping') {
      this.#send(this.#framing.frame('pong', message.data), () => {})
      return waitForDrain(this.#socket)
    }
    if (message.type !== 'data' || this.push(message.data)) return undefined
    return new Promise((resolve) => {
      this.#onRoom = resolve
    })
  }

  #sendClose(code: number, done: () => void): void {
    if (this.#hasSentClose) {
      done()
      return
    }
    this.#hasSentClose = true
    this.#send(this.#framing.closeFrame(code), done)
  }

  #send(frame: Buffer, done: () => void): void {
    if (this.#socket.destroyed || !this.#socket.writable) done()
    else this.#socket.write(frame, () => done())
  }
}
