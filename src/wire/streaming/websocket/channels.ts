/**
 * Multiplexes streams on one WebSocket, in the format of Kubernetes: the first byte of a message is the channel number.
 * If the name of the subprotocol contains `base64`, a message is text that consists of a digit and base64 data. In
 * version 5 of the subprotocol, a message on channel 255 closes the channel that the message names.
 */

import type { Duplex } from 'node:stream'
import { isError } from '../../../base/text/errors.ts'
import { closeCodes, WebSocketFraming } from '../../websocket/framing.ts'
import { MultiplexedStream } from '../multiplexed-stream.ts'
import { waitForDrain } from '../wait-for-drain.ts'

export interface ChannelOptions {
  /** Number of channels. The first channel has the number 0. */
  readonly count: number
  readonly isBase64: boolean
  /** Whether the client can close individual channels. */
  readonly canClose: boolean
  readonly idleMs: number
}

const maxMessageBytes = 1024 * 1024
/** Maximum number of data bytes in a frame. Even with base64, the frame is smaller than 64 KiB. */
const maxDataBytes = 32 * 1024
const closeChannel = 255
const lingerMs = 2_000

type SwitchedSocket = Duplex & { setTimeout?: (ms: number, run: () => void) => unknown }

export class ChannelConnection {
  /** The stream on each channel, by channel number. */
  readonly streams: readonly MultiplexedStream[]
  /** Resolves when the connection is closed for any reason. */
  readonly closed: Promise<void>
  readonly #socket: Duplex
  readonly #options: ChannelOptions
  readonly #framing: WebSocketFraming
  #hasSaidClose = false

  private constructor(socket: SwitchedSocket, options: ChannelOptions, framing: WebSocketFraming) {
    this.#socket = socket
    this.#options = options
    this.#framing = framing
    this.streams = Array.from({ length: options.count }, (_, channel) => this.#stream(channel))
    socket.setTimeout?.(options.idleMs, () => socket.destroy())
    this.closed = this.#run()
  }

  /** Opens the channels on a socket that has just switched to the WebSocket protocol. */
  static async open(socket: SwitchedSocket, options: ChannelOptions): Promise<ChannelConnection> {
    socket.on('error', () => {})
    return new ChannelConnection(socket, options, await WebSocketFraming.open('server', maxMessageBytes))
  }

  /** Sends an empty message, which shows the client that a channel is open. */
  announce(channel: number): void {
    this.#write(this.#message(channel, Buffer.alloc(0)))
  }

  /** Sends a close frame. Closes the connection when the client closes it, or after a short time. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    // Start the timer only after all earlier data has been flushed.
    this.#sayClose(closeCodes.normal, () => {
      timer = setTimeout(() => this.destroy(), lingerMs).unref()
    })
    await this.closed
    clearTimeout(timer)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #stream(channel: number): MultiplexedStream {
    return new MultiplexedStream({
      send: (chunk, done) => this.#send(channel, chunk, done),
      finish: (done) => done(),
      forget: () => {},
    })
  }

  async #run(): Promise<void> {
    try {
      await this.#read()
    } catch (error) {
      if (!(isError(error) && 'code' in error)) throw error
    } finally {
      this.#socket.end(() => this.#socket.destroy())
      for (const stream of this.streams) stream.destroy(new Error('the connection is closed'))
    }
  }

  async #read(): Promise<void> {
    // Keep the socket open for writing after reading ends, so that a close frame can be sent.
    const chunks = this.#socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    for await (const chunk of chunks)
      for (const message of await this.#framing.read(chunk)) {
        if (message.type === 'close' || message.type === 'fault') {
          this.#sayClose(message.type === 'close' ? closeCodes.normal : message.code)
          return
        }
        if (message.type === 'ping') await this.#answerPing(message.data)
        else await this.#take(message.data)
      }
  }

  /** Responds to a ping. Stops reading from a client that does not read the replies. */
  #answerPing(data: Buffer): Promise<void> | undefined {
    this.#write(this.#framing.frame('pong', data))
    return waitForDrain(this.#socket)
  }

  #take(message: Buffer): Promise<void> | undefined {
    if (message.length === 0) return undefined
    const { isBase64, canClose } = this.#options
    const channel = isBase64 ? message[0]! - 0x30 : message[0]!
    const data = isBase64 ? Buffer.from(message.subarray(1).toString('latin1'), 'base64') : message.subarray(1)
    if (channel === closeChannel && canClose) {
      this.streams[data[0] ?? closeChannel]?.receiveEnd()
      return undefined
    }
    return data.length === 0 ? undefined : this.streams[channel]?.receive(data)
  }

  #send(channel: number, chunk: Buffer, done: () => void): void {
    if (this.#socket.destroyed || !this.#socket.writable) {
      done()
      return
    }
    const part = chunk.subarray(0, maxDataBytes)
    const unsentChunk = chunk.subarray(part.length)
    this.#socket.write(this.#message(channel, part), () =>
      unsentChunk.length === 0 ? done() : this.#send(channel, unsentChunk, done),
    )
  }

  #message(channel: number, data: Buffer): Buffer {
    return this.#options.isBase64
      ? this.#framing.frame(
          'text',
          Buffer.from(String.fromCharCode(0x30 + channel) + data.toString('base64'), 'latin1'),
        )
      : this.#framing.frame('binary', Buffer.concat([Buffer.from([channel]), data]))
  }

  #sayClose(code: number, done?: () => void): void {
    if (this.#hasSaidClose) return
    this.#hasSaidClose = true
    this.#write(this.#framing.closeFrame(code), done)
  }

  #write(frame: Buffer, done?: () => void): void {
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(frame, done)
  }
}
