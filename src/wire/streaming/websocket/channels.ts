/**
 * Several streams on one WebSocket, as Kubernetes does it: the first byte of a message is the number of its channel. With
 * `base64` in the protocol's name the messages are text: a digit, and the data in base64. In the fifth version a message of
 * channel 255 says that another channel, which it names, will carry nothing more.
 */

import type { Duplex } from 'node:stream'
import { isError } from '../../../base/text/errors.ts'
import { closeCodes, WebSocketFraming } from '../../websocket/framing.ts'
import { MultiplexedStream } from '../multiplexed-stream.ts'
import { roomOn } from '../room-on.ts'

export interface ChannelOptions {
  /** How many channels there are, from 0 on. */
  readonly count: number
  readonly isBase64: boolean
  /** Whether clients can say that a channel carries nothing more. */
  readonly canClose: boolean
  readonly idleMs: number
}

const maxMessageBytes = 1024 * 1024
/** Of one frame, in base64 still below 64 KiB. */
const maxDataBytes = 32 * 1024
const closeChannel = 255
const lingerMs = 2_000

type SwitchedSocket = Duplex & { setTimeout?: (ms: number, run: () => void) => unknown }

export class ChannelConnection {
  /** By the number of the channel. */
  readonly streams: readonly MultiplexedStream[]
  /** Resolves when the connection is over, however that came. */
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

  /** `socket` has just been switched to a WebSocket. */
  static async open(socket: SwitchedSocket, options: ChannelOptions): Promise<ChannelConnection> {
    socket.on('error', () => {})
    return new ChannelConnection(socket, options, await WebSocketFraming.open('server', maxMessageBytes))
  }

  /** A message without data tells the client that a channel is open. */
  announce(channel: number): void {
    this.#write(this.#message(channel, Buffer.alloc(0)))
  }

  /** Says that all has been said. Ends the connection when the client does, or after a moment. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    // The time begins when all that was said before is on its way.
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
    // Left open by its reader, so that a closing frame can still be sent.
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

  /** Nothing more is read of a client that does not take the answers. */
  #answerPing(data: Buffer): Promise<void> | undefined {
    this.#write(this.#framing.frame('pong', data))
    return roomOn(this.#socket)
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
    const left = chunk.subarray(part.length)
    this.#socket.write(this.#message(channel, part), () =>
      left.length === 0 ? done() : this.#send(channel, left, done),
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
