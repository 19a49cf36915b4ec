/**
 * One side of a SPDY/3.1 connection. The client opens streams, the server replies to each of them, and both sides send
 * data.
 *
 * A server that ends a command may reset its streams and close the connection right after the last data. On the client
 * side, the end of a stream therefore never discards data that the reader has not read yet.
 *
 * A slow reader blocks the whole connection, as in all implementations that Kubernetes clients use. Those
 * implementations ignore flow-control windows and rely on TCP back-pressure. The server reports the number of bytes
 * that it has read in WINDOW_UPDATE frames. Once a client has shown that it uses windows, the server respects that
 * client's windows. The server stops reading from a client that does not read the replies.
 */

import type { Duplex } from 'node:stream'
import { isError } from '../../../base/text/errors.ts'
import { MultiplexedStream } from '../multiplexed-stream.ts'
import { waitForDrain } from '../wait-for-drain.ts'
import {
  dataFrame,
  endFrame,
  type Frame,
  FrameReader,
  lastFrame,
  openFrame,
  pingFrame,
  replyFrame,
  resetFrame,
  windowFrame,
} from './frames.ts'
import { HeaderDecoder, HeaderEncoder } from './header-blocks.ts'
import { SpdyError } from './spdy-error.ts'
import { ReceivedBytes, SendWindows } from './windows.ts'

export interface OpenedStream {
  readonly id: number
  readonly headers: ReadonlyMap<string, string>
  readonly stream: MultiplexedStream
}

export interface SpdyOptions {
  /**
   * Called for every stream that the client opens. If the callback throws an error, the stream is reset. Undefined on
   * the client side.
   */
  readonly onStream?: (opened: OpenedStream) => void
  /** Idle timeout of the connection in milliseconds. 0 means no timeout. */
  readonly idleMs: number
}

const maxStreams = 1000
const maxDataBytes = 32 * 1024
/** Maximum time in milliseconds to wait for the client to close the connection, once the server has sent everything. */
const lingerMs = 2_000

export class SpdyConnection {
  /** Resolves when the connection is closed for any reason. */
  readonly closed: Promise<void>
  readonly #socket: Duplex
  readonly #options: SpdyOptions
  readonly #reader = new FrameReader()
  readonly #decoder = new HeaderDecoder()
  readonly #encoder = new HeaderEncoder()
  readonly #streams = new Map<number, MultiplexedStream>()
  readonly #windows = new SendWindows()
  readonly #received = new ReceivedBytes((id, bytes) => this.#write(windowFrame(id, bytes)))
  #lastId = 0
  #isEnding = false
  /** Whether a reply was written while the last frame was processed. */
  #hasAnswered = false

  constructor(socket: Duplex & { setTimeout?: (ms: number, run: () => void) => unknown }, options: SpdyOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('error', () => {})
    socket.setTimeout?.(options.idleMs, () => socket.destroy())
    this.closed = this.#run()
  }

  /** Opens a stream. Only the client side may open streams. */
  open(headers: { readonly [name: string]: string }): MultiplexedStream {
    const id = this.#lastId === 0 ? 1 : this.#lastId + 2
    this.#lastId = id
    const stream = this.#stream(id)
    this.#write(openFrame(id, this.#encoder.encode(headers)))
    return stream
  }

  get #isClient(): boolean {
    return this.#options.onStream === undefined
  }

  /** Rejects new streams. Closes the connection when the client closes it, or after a short time. */
  async end(): Promise<void> {
    this.#isEnding = true
    let timer: NodeJS.Timeout | undefined
    // Start the timer only after all earlier data has been flushed.
    this.#write(endFrame(this.#lastId), () => {
      timer = setTimeout(() => this.destroy(), lingerMs).unref()
    })
    await this.closed
    clearTimeout(timer)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  async #run(): Promise<void> {
    try {
      for await (const chunk of this.#socket as AsyncIterable<Buffer>)
        for (const frame of this.#reader.read(chunk)) {
          const room = this.#take(frame)
          if (room !== undefined) await room
          if (this.#hasAnswered) await this.#roomForAnswers()
        }
    } catch (error) {
      // Ignore broken connections and protocol violations, which are the client's fault.
      if (!(error instanceof SpdyError) && !isConnectionError(error)) throw error
    } finally {
      this.#socket.destroy()
      for (const stream of this.#streams.values()) this.#cut(stream, 'the connection is closed')
      this.#windows.close()
    }
  }

  #roomForAnswers(): Promise<void> | undefined {
    this.#hasAnswered = false
    return waitForDrain(this.#socket)
  }

  #take(frame: Frame): Promise<void> | undefined {
    switch (frame.type) {
      case 'open':
        this.#open(frame)
        return undefined
      case 'data':
        return this.#takeData(frame)
      case 'headers':
        // Clients normally send no HEADERS frames. Decode their header blocks anyway, because later blocks are
        // compressed relative to all earlier ones.
        if (!this.#isClient) this.#decoder.decode(frame.block)
        if (frame.isLast) this.#streams.get(frame.id)?.receiveEnd()
        return undefined
      case 'reset':
        this.#cut(this.#streams.get(frame.id), 'the peer has reset the stream')
        return undefined
      case 'window':
        if (frame.id === 0 || this.#streams.has(frame.id)) this.#windows.grow(frame.id, frame.bytes)
        return undefined
      case 'settings':
        if (frame.window !== undefined) this.#windows.begin(frame.window)
        return undefined
      case 'ping':
        this.#write(pingFrame(frame.id))
        return undefined
      case 'end':
        this.#isEnding = true
        return undefined
    }
  }

  #cut(stream: MultiplexedStream | undefined, why: string): void {
    if (this.#isClient) stream?.receiveEnd()
    else stream?.destroy(new Error(why))
  }

  #open({ id, isLast, block }: Frame & { type: 'open' }): void {
    const { onStream } = this.#options
    if (onStream === undefined) throw new SpdyError('the server opened a stream, which only clients may do')
    const headers = this.#decoder.decode(block)
    if (id % 2 === 0 || id <= this.#lastId) throw new SpdyError('a stream has an invalid ID')
    this.#lastId = id
    if (this.#isEnding || this.#streams.size >= maxStreams) {
      this.#write(resetFrame(id, 'refused'))
      return
    }
    const stream = this.#stream(id)
    this.#write(replyFrame(id, this.#encoder.encode()))
    if (isLast) stream.receiveEnd()
    try {
      onStream({ id, headers, stream })
    } catch {
      this.#write(resetFrame(id, 'protocolError'))
      stream.destroy()
    }
  }

  #stream(id: number): MultiplexedStream {
    const stream = new MultiplexedStream({
      send: (chunk, done) => this.#send(id, chunk, done),
      finish: (done) => {
        this.#write(lastFrame(id))
        done()
      },
      forget: (ending) => this.#forget(id, ending),
    })
    this.#streams.set(id, stream)
    return stream
  }

  #takeData({ id, isLast, data }: Frame & { type: 'data' }): Promise<void> | undefined {
    const stream = this.#streams.get(id)
    const room = data.length > 0 ? stream?.receive(data) : undefined
    if (isLast) stream?.receiveEnd()
    if (room === undefined) this.#countReceived(id, data.length)
    return room?.then(() => this.#countReceived(id, data.length))
  }

  /** Counts received data. Data of a closed stream counts only toward the window of the connection. */
  #countReceived(id: number, bytes: number): void {
    this.#received.add(bytes, this.#streams.has(id) ? id : undefined)
  }

  /** Sends a chunk in pieces that fit into the peer's windows. */
  #send(id: number, chunk: Buffer, done: () => void): void {
    if (this.#socket.destroyed || !this.#streams.has(id)) {
      done()
      return
    }
    const room = Math.min(maxDataBytes, this.#windows.roomFor(id))
    if (room <= 0) {
      this.#windows.wait(id, () => this.#send(id, chunk, done))
      return
    }
    const part = chunk.subarray(0, room)
    const unsentChunk = chunk.subarray(part.length)
    this.#windows.take(id, part.length)
    this.#socket.write(dataFrame(id, part), () =>
      unsentChunk.length === 0 ? done() : this.#send(id, unsentChunk, done),
    )
  }

  #forget(id: number, ending: 'complete' | 'cut'): void {
    if (!this.#streams.delete(id)) return
    this.#windows.forget(id)
    this.#received.forget(id)
    if (ending === 'cut') this.#write(resetFrame(id, 'cancel'))
  }

  #write(frame: Buffer, done?: () => void): void {
    this.#hasAnswered = true
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(frame, done)
  }
}

function isConnectionError(error: unknown): boolean {
  return isError(error) && 'code' in error
}
