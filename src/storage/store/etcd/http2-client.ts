/**
 * An HTTP/2 connection with the features that an etcd client needs: POST requests with a complete body, and streamed
 * responses.
 *
 * The connection respects the peer's limit on concurrent streams and its flow-control windows. Conversely, the peer may
 * send at most `windowBytes` bytes per stream before the reader reports the bytes as consumed.
 *
 * A protocol violation by the peer ends the connection. Each reader is then told whether the peer may have processed
 * its request.
 */
import type { Socket } from 'node:net'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { Http2Connection, Http2Stream } from '../../../wire/http2/connection.ts'
import {
  errorCodes,
  type FrameHead,
  firstWindow,
  flags,
  frame,
  frameTypes,
  MalformedHttp2,
  preface,
  settings,
  settingsFrame,
} from '../../../wire/http2/frames.ts'
import type { HeaderDecoder } from '../../../wire/http2/header-block.ts'

export type Headers = ReadonlyMap<string, string>

/** Receives the response of a stream. None of its methods is called after `end` or `fail`. */
export interface StreamReader {
  /** Handles the response headers and, at the end, the trailers. */
  headers(headers: Headers): void
  data(chunk: Buffer): void
  end(): void
  fail(failure: StreamFailure): void
}

export interface StreamFailure {
  /** The cause of the failure. Undefined if the connection was closed without an error. */
  readonly cause?: Error
  /**
   * Whether the peer may have processed the request. False if the peer certainly did not receive the whole request, or
   * reports that it did not process the request.
   */
  readonly sent: boolean
}

export interface StreamRequest {
  /** The headers, as returned by `encodeHeaders`. */
  readonly headers: Buffer
  readonly body: Buffer
  /** Whether the body ends the request. If false, the request stays open until it is cancelled. */
  readonly ends: boolean
}

/** Number of bytes that the peer can send on a stream before the reader consumes them. */
const windowBytes = 2 * 1024 * 1024
/**
 * Number of bytes that the peer can send on all streams in total. The connection reads data from the socket
 * immediately, so the peer never reaches this limit.
 */
const connectionWindow = 8 * windowBytes
/**
 * Maximum size of a header block. HPACK's dynamic table is disabled, so equal headers always have the same encoding and
 * can be cached.
 */
const maxHeaderBytes = 64 * 1024
const limits = { blockBytes: maxHeaderBytes, headers: { remembered: 0, count: 1000, bytes: 2 * maxHeaderBytes } }
/**
 * The stream ID at which a connection is replaced. This ID is far below the protocol's maximum, because requests may
 * still be waiting for a free stream.
 */
const lastId = 2 ** 30
/**
 * Maximum number and size of cached header blocks. A member sends the same headers in thousands of responses, and the
 * cache avoids decoding them every time.
 */
const keptBlocks = 64
const keptBlockBytes = 256

class Stream extends Http2Stream {
  readonly request: StreamRequest
  readonly reader: StreamReader
  /**
   * Flow-control counters: received bytes that the reader has not consumed, and consumed bytes that have not been
   * returned to the peer's window yet.
   */
  untaken = 0
  untold = 0

  constructor(request: StreamRequest, reader: StreamReader) {
    super()
    this.request = request
    this.reader = reader
  }

  get isSent(): boolean {
    return this.id !== 0 && this.unsent === 0
  }
}

export type { Stream }

export class Http2Client extends Http2Connection<Stream> {
  /** Monotonic time when the connection last received data. */
  heard = performance.now()
  readonly #blocks = new BoundedMap<string, string[]>(keptBlocks)
  /** Streams that cannot start yet because the peer limits concurrent streams. */
  readonly #waiting = new Set<Stream>()
  readonly #onSettings: () => void
  readonly #onClosed: (cause: Error | undefined) => void
  #nextId = 1
  #maxStreams = Number.POSITIVE_INFINITY
  #untold = 0
  #takesMore = true
  #failure: Error | undefined

  /** Creates a connection on a connected socket. `onSettings` is called when the peer has responded with HTTP/2. */
  constructor(
    socket: Socket,
    { onSettings, onClosed }: { onSettings: () => void; onClosed: (cause: Error | undefined) => void },
  ) {
    super(socket, limits)
    this.#onSettings = onSettings
    this.#onClosed = onClosed
    socket.setNoDelay(true)
    socket.on('data', () => (this.heard = performance.now()))
    socket.on('error', (error) => this.destroy(error))
    socket.on('end', () => this.destroy())
    socket.on('close', () => this.#ended())
    this.outgoing.add(preface)
    this.outgoing.add(
      settingsFrame([
        [settings.headerTableSize, 0],
        [settings.enablePush, 0],
        [settings.initialWindowSize, windowBytes],
      ]),
    )
    this.sendNumber({ type: frameTypes.window }, connectionWindow - firstWindow)
  }

  /** Whether a new stream can be opened. False if the connection is closed or the peer has sent GOAWAY. */
  get usable(): boolean {
    return this.#takesMore && !this.socket.destroyed
  }

  get destroyed(): boolean {
    return this.socket.destroyed
  }

  open(request: StreamRequest, reader: StreamReader): Stream {
    const stream = new Stream(request, reader)
    if (this.streams.size >= this.#maxStreams) this.#waiting.add(stream)
    else this.#begin(stream)
    return stream
  }

  /** Cancels the stream. The methods of its reader are not called again. */
  cancel(stream: Stream): void {
    this.#waiting.delete(stream)
    if (!this.streams.has(stream.id)) return
    this.sendReset(stream.id, errorCodes.cancel)
    this.#leave(stream)
  }

  /** Reports the number of bytes that the reader has consumed, so that the peer can send more. */
  consumed(stream: Stream, bytes: number): void {
    stream.untaken -= bytes
    stream.untold += bytes
    if (stream.untold < windowBytes / 2 || !this.streams.has(stream.id)) return
    this.sendNumber({ type: frameTypes.window, stream: stream.id }, stream.untold)
    stream.untold = 0
  }

  ping(): void {
    this.outgoing.add(frame({ type: frameTypes.ping }, new Uint8Array(8)))
  }

  /** Stops accepting new streams. The connection ends after the current streams. */
  close(): void {
    this.#takesMore = false
    this.#endIfIdle()
  }

  /** Ends the connection and every stream on it. */
  destroy(cause?: Error): void {
    this.#failure ??= cause
    this.socket.destroy()
  }

  #begin(stream: Stream): void {
    const { headers, body, ends } = stream.request
    this.begin(stream, this.#nextId)
    this.#nextId += 2
    if (this.#nextId > lastId) this.#takesMore = false
    this.sendHeaders(stream, headers)
    stream.isEnding = ends
    this.sendData(stream, body)
  }

  /** Ends the connection after a protocol error. Readers never throw, so the error can only be the peer's fault. */
  protected onMalformed(error: Error): void {
    this.destroy(this.isKnown ? error : new Error('it does not support HTTP/2'))
  }

  protected onEnded(): void {}

  protected onBody(head: Required<FrameHead>, data: Buffer, length: number): void {
    this.#untold += length
    if (this.#untold >= connectionWindow / 2) {
      this.sendNumber({ type: frameTypes.window }, this.#untold)
      this.#untold = 0
    }
    const stream = this.streamOf(head.stream)
    if (stream === undefined) return
    stream.untaken += length
    if (stream.untaken + stream.untold > windowBytes) throw new MalformedHttp2('data exceeds the flow-control window')
    if (data.length < length) this.consumed(stream, length - data.length)
    const isLast = (head.flags & flags.endStream) !== 0
    if (isLast) this.#endOf(stream)
    if (data.length > 0) stream.reader.data(data)
    if (isLast) stream.reader.end()
  }

  protected onHeaders(head: Required<FrameHead>, headers: string[] | undefined): void {
    if (headers === undefined) throw new MalformedHttp2('too many headers')
    const stream = this.streamOf(head.stream)
    if (stream === undefined) return
    const isLast = (head.flags & flags.endStream) !== 0
    if (isLast) this.#endOf(stream)
    stream.reader.headers(mapOf(headers))
    if (isLast) stream.reader.end()
  }

  protected override decode(decoder: HeaderDecoder, block: Buffer): string[] | undefined {
    if (block.length > keptBlockBytes) return decoder.decode(block)
    const text = block.toString('latin1')
    const cachedHeaders = this.#blocks.get(text)
    if (cachedHeaders !== undefined) return cachedHeaders
    const headers = decoder.decode(block)
    if (headers !== undefined) this.#blocks.set(text, headers)
    return headers
  }

  /**
   * Handles the end of the response. If the request is still being sent, the rest of the request is dropped, because
   * the peer does not need it.
   */
  #endOf(stream: Stream): void {
    if (stream.isEnded) this.#leave(stream)
    else this.cancel(stream)
  }

  protected onReset(stream: Stream | undefined, code: number): void {
    if (stream === undefined) return
    this.#leave(stream)
    const cause = new Error(`the stream was closed with code ${code}`)
    stream.reader.fail({ cause, sent: stream.isSent && code !== errorCodes.refusedStream })
  }

  protected onSetting(id: number, value: number): void {
    if (id === settings.maxConcurrentStreams) this.#maxStreams = value
  }

  protected onSettings(): void {
    this.#onSettings()
    this.#beginWaiting()
  }

  protected onGoAway(last: number, code: number): void {
    this.#takesMore = false
    if (code !== 0) this.#failure ??= new Error(`the member closed the connection with code ${code}`)
    const cause = this.#failure ?? new Error('the member is shutting down the connection')
    const unread = [...this.streams.values().filter(({ id }) => id > last), ...this.#waiting]
    this.#waiting.clear()
    for (const stream of unread) {
      this.#leave(stream)
      stream.reader.fail({ cause, sent: false })
    }
    this.#endIfIdle()
  }

  protected streamOf(id: number): Stream | undefined {
    if (id % 2 === 0 || id >= this.#nextId) throw new MalformedHttp2(`unexpected frame on stream ${id}`)
    return this.streams.get(id)
  }

  #leave(stream: Stream): void {
    this.forget(stream)
    this.#beginWaiting()
    if (!this.#takesMore) this.#endIfIdle()
  }

  #beginWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.streams.size >= this.#maxStreams) return
      this.#waiting.delete(stream)
      this.#begin(stream)
    }
  }

  #endIfIdle(): void {
    if (!this.#takesMore && this.streams.size + this.#waiting.size === 0) this.destroy()
  }

  #ended(): void {
    this.#takesMore = false
    const cause = this.#failure
    const open = [...this.streams.values(), ...this.#waiting]
    this.#waiting.clear()
    for (const stream of open) {
      this.forget(stream)
      stream.reader.fail({ ...(cause && { cause }), sent: stream.isSent })
    }
    this.#onClosed(cause)
  }
}

function mapOf(headers: readonly string[]): Headers {
  const map = new Map<string, string>()
  for (let i = 0; i < headers.length; i += 2) map.set(headers[i]!, headers[i + 1]!)
  return map
}
