/**
 * A connection of HTTP/2 as a caller of etcd needs it: POSTs whose whole body is at hand, and what comes back as it comes.
 *
 * Node's own client makes two streams, a map of headers and a dozen listeners for each call, which costs six times what
 * the call itself does (docs/decisions/0003). Here a call is an entry in a map. What is sent in one turn of the event loop
 * leaves in one piece.
 *
 * No request leaves before there is room for it: the other side says how many there may be at once and how much of their
 * bodies it takes, per stream and in all. What it sends is bounded alike: `windowBytes` for each stream, until the reader
 * of the stream says that it has taken them (`taken`).
 *
 * A peer that does not keep to the protocol ends the connection. What this means for a call is told to its reader, and
 * whether the other side can have read the request at all.
 */
import type { Socket } from 'node:net'
import {
  errorCodes,
  FrameCutter,
  type FrameHead,
  firstWindow,
  flags,
  frame,
  frameHeadBytes,
  frameTypes,
  largestWindow,
  MalformedHttp2,
  maxFrameBytes,
  numberFrame,
  preface,
  settings,
  settingsFrame,
  withoutPadding,
  writeFrameHead,
} from './frames.ts'
import { decodeHeaders, type Headers } from './header-block.ts'

/** Who reads a stream. After `end` or `fail` nothing more is told. */
export interface StreamReader {
  /** The headers of the answer, and later its trailers. */
  headers(headers: Headers): void
  data(chunk: Buffer): void
  end(): void
  fail(failure: StreamFailure): void
}

export interface StreamFailure {
  /** Why; absent: the connection was closed, without a word about it. */
  readonly cause?: Error
  /** False when the other side surely has not got the whole request, or says that it has not begun with it. */
  readonly sent: boolean
}

export interface StreamRequest {
  /** As `encodeHeaders` writes them. */
  readonly headers: Buffer
  readonly body: Buffer
  /** Whether the request ends with its body; else it stays open until it is cancelled. */
  readonly ends: boolean
}

/** What the other side may send ahead of the reader of a stream. */
const windowBytes = 2 * 1024 * 1024
/** What it may send ahead on all streams: whatever has come is taken from the socket at once, so this is never short. */
const connectionWindow = 8 * windowBytes
/** The largest block of headers. */
const maxHeaderBytes = 64 * 1024
/** Where a connection has had its time: far below the last number of a stream, as some may be waiting to begin. */
const lastId = 2 ** 30
/** Blocks of headers that are kept as read, and how long they may be. */
const keptBlocks = 64
const keptBlockBytes = 256

class Stream {
  /** 0: not begun, for want of room. */
  id = 0
  readonly request: StreamRequest
  readonly reader: StreamReader
  /** How much of the body has been sent, and may be sent by what the other side has said. */
  sent = 0
  window = 0
  /** What has come and is not taken, and what is taken and not told. */
  untaken = 0
  untold = 0

  constructor(request: StreamRequest, reader: StreamReader) {
    this.request = request
    this.reader = reader
  }

  get isSent(): boolean {
    return this.id !== 0 && this.sent === this.request.body.length
  }
}

export type { Stream }

export class Http2Client {
  /** When something was received last, on the monotonic clock. */
  heard = performance.now()
  readonly #socket: Socket
  readonly #cutter = new FrameCutter((head, payload) => this.#receive(head, payload))
  readonly #blocks = new Map<string, Headers>()
  readonly #streams = new Map<number, Stream>()
  /** Streams that may not begin yet. */
  readonly #waiting = new Set<Stream>()
  /** Streams whose bodies wait for a window. */
  readonly #blocked = new Set<Stream>()
  readonly #onSettings: () => void
  readonly #onClosed: (cause: Error | undefined) => void
  #nextId = 1
  #maxStreams = Number.POSITIVE_INFINITY
  #peerWindow = firstWindow
  #peerFrame = maxFrameBytes
  #window = firstWindow
  #untold = 0
  /** Headers of which more is to follow. */
  #begun: { head: Required<FrameHead>; parts: Buffer[]; length: number } | undefined
  /** Whether the other side has shown that it speaks HTTP/2. */
  #isKnown = false
  #isCorked = false
  #takesMore = true
  #failure: Error | undefined

  /** The socket is connected. `onSettings` is called when the other side has shown that it speaks HTTP/2. */
  constructor(
    socket: Socket,
    { onSettings, onClosed }: { onSettings: () => void; onClosed: (cause: Error | undefined) => void },
  ) {
    this.#socket = socket
    this.#onSettings = onSettings
    this.#onClosed = onClosed
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    socket.on('error', (error) => this.destroy(error))
    socket.on('end', () => this.destroy())
    socket.on('close', () => this.#ended())
    this.#write(preface)
    this.#write(
      settingsFrame([
        [settings.headerTableSize, 0],
        [settings.enablePush, 0],
        [settings.initialWindowSize, windowBytes],
      ]),
    )
    this.#write(numberFrame({ type: frameTypes.window }, connectionWindow - firstWindow))
  }

  /** False once no new stream can be opened: closed, or the other side has said that it is going away. */
  get usable(): boolean {
    return this.#takesMore && !this.#socket.destroyed
  }

  get destroyed(): boolean {
    return this.#socket.destroyed
  }

  open(request: StreamRequest, reader: StreamReader): Stream {
    const stream = new Stream(request, reader)
    if (this.#streams.size >= this.#maxStreams) this.#waiting.add(stream)
    else this.#begin(stream)
    return stream
  }

  /** Nothing more is told of the stream, and the other side need not go on with it. */
  cancel(stream: Stream): void {
    this.#waiting.delete(stream)
    if (!this.#streams.has(stream.id)) return
    this.#write(numberFrame({ type: frameTypes.reset, stream: stream.id }, errorCodes.cancel))
    this.#forget(stream)
  }

  /** The reader of the stream has no use for these bytes any more: others may come. */
  taken(stream: Stream, bytes: number): void {
    stream.untaken -= bytes
    stream.untold += bytes
    if (stream.untold < windowBytes / 2 || !this.#streams.has(stream.id)) return
    this.#write(numberFrame({ type: frameTypes.window, stream: stream.id }, stream.untold))
    stream.untold = 0
  }

  ping(): void {
    this.#write(frame({ type: frameTypes.ping }, new Uint8Array(8)))
  }

  /** Takes no new streams; ends when those under way have ended. */
  close(): void {
    this.#takesMore = false
    this.#endIfIdle()
  }

  /** Ends the connection and every stream on it. */
  destroy(cause?: Error): void {
    this.#failure ??= cause
    this.#socket.destroy()
  }

  #begin(stream: Stream): void {
    const { headers, body, ends } = stream.request
    stream.id = this.#nextId
    stream.window = this.#peerWindow
    this.#nextId += 2
    if (this.#nextId > lastId) this.#takesMore = false
    this.#streams.set(stream.id, stream)
    const head = { type: frameTypes.headers, flags: flags.endHeaders, stream: stream.id }
    if (body.length <= this.#room(stream)) {
      stream.sent = body.length
      const data = { type: frameTypes.data, flags: ends ? flags.endStream : 0, stream: stream.id }
      this.#spend(stream, body.length)
      this.#write(twoFrames([head, headers], [data, body]))
    } else {
      this.#write(frame(head, headers))
      this.#blocked.add(stream)
      this.#sendBlocked()
    }
  }

  /** How much of a body the next frame may carry. */
  #room(stream: Stream): number {
    return Math.min(this.#window, stream.window, this.#peerFrame)
  }

  #spend(stream: Stream, bytes: number): void {
    this.#window -= bytes
    stream.window -= bytes
  }

  #sendBlocked(): void {
    for (const stream of this.#blocked) {
      if (this.#window <= 0) return
      this.#sendSome(stream)
      if (stream.isSent) this.#blocked.delete(stream)
    }
  }

  #sendSome(stream: Stream): void {
    const { body, ends } = stream.request
    while (stream.sent < body.length) {
      const count = Math.min(this.#room(stream), body.length - stream.sent)
      if (count <= 0) return
      const part = body.subarray(stream.sent, stream.sent + count)
      stream.sent += count
      this.#spend(stream, count)
      const head = Buffer.allocUnsafe(frameHeadBytes)
      const set = ends && stream.isSent ? flags.endStream : 0
      writeFrameHead(head, count, { type: frameTypes.data, flags: set, stream: stream.id })
      this.#write(head)
      this.#write(part)
    }
  }

  #onData(chunk: Buffer): void {
    this.heard = performance.now()
    try {
      this.#cutter.push(chunk)
    } catch (error) {
      // A reader never throws: it is the other side.
      this.destroy(this.#isKnown ? (error as Error) : new Error('it does not speak HTTP/2'))
    }
  }

  #receive(head: Required<FrameHead>, payload: Buffer): void {
    // What stands behind the end is not read.
    if (this.#socket.destroyed) return
    if (!this.#isKnown && head.type !== frameTypes.settings) throw new MalformedHttp2('no settings')
    if (this.#begun !== undefined && head.type !== frameTypes.continuation) {
      throw new MalformedHttp2('headers that do not go on')
    }
    // Priorities, and frames that are unknown, mean nothing.
    if (head.type === frameTypes.data) this.#data(head, payload)
    else if (head.type === frameTypes.headers || head.type === frameTypes.continuation) this.#headers(head, payload)
    else if (head.type === frameTypes.reset) this.#reset(head, payload)
    else if (head.type === frameTypes.settings) this.#settings(head, payload)
    else if (head.type === frameTypes.push) throw new MalformedHttp2('a push, which was not asked for')
    else if (head.type === frameTypes.ping) this.#ping(head, payload)
    else if (head.type === frameTypes.goaway) this.#goAway(payload)
    else if (head.type === frameTypes.window) this.#moreWindow(head, payload)
  }

  #data(head: Required<FrameHead>, payload: Buffer): void {
    this.#untold += payload.length
    if (this.#untold >= connectionWindow / 2) {
      this.#write(numberFrame({ type: frameTypes.window }, this.#untold))
      this.#untold = 0
    }
    const stream = this.#streamOf(head)
    if (stream === undefined) return
    stream.untaken += payload.length
    if (stream.untaken + stream.untold > windowBytes) throw new MalformedHttp2('more data than was allowed')
    const data = withoutPadding(head, payload)
    if (data.length < payload.length) this.taken(stream, payload.length - data.length)
    const isLast = (head.flags & flags.endStream) !== 0
    if (isLast) this.#endOf(stream)
    if (data.length > 0) stream.reader.data(data)
    if (isLast) stream.reader.end()
  }

  #headers(head: Required<FrameHead>, payload: Buffer): void {
    const block = this.#wholeBlock(head, payload)
    if (block === undefined) return
    const headers = this.#read(block.bytes)
    const stream = this.#streamOf(block.head)
    if (stream === undefined) return
    const isLast = (block.head.flags & flags.endStream) !== 0
    if (isLast) this.#endOf(stream)
    stream.reader.headers(headers)
    if (isLast) stream.reader.end()
  }

  /** The headers with what goes on in further frames; undefined while more is to come. */
  #wholeBlock(head: Required<FrameHead>, payload: Buffer): { head: Required<FrameHead>; bytes: Buffer } | undefined {
    const isFirst = head.type === frameTypes.headers
    if (!isFirst && this.#begun?.head.stream !== head.stream) throw new MalformedHttp2('headers without a beginning')
    const part = isFirst ? withoutPadding(head, payload) : payload
    const isLast = (head.flags & flags.endHeaders) !== 0
    if (isFirst && isLast) return { head, bytes: part }
    this.#begun ??= { head, parts: [], length: 0 }
    const begun = this.#begun
    // An empty part counts too, or they could come for ever.
    begun.length += frameHeadBytes + part.length
    if (begun.length > maxHeaderBytes) throw new MalformedHttp2(`headers of more than ${maxHeaderBytes} bytes`)
    begun.parts.push(part)
    if (!isLast) return undefined
    this.#begun = undefined
    return { head: begun.head, bytes: Buffer.concat(begun.parts) }
  }

  #read(block: Buffer): Headers {
    if (block.length > keptBlockBytes) return decodeHeaders(block)
    const text = block.toString('latin1')
    const known = this.#blocks.get(text)
    if (known !== undefined) return known
    const headers = decodeHeaders(block)
    if (this.#blocks.size >= keptBlocks) this.#blocks.clear()
    this.#blocks.set(text, headers)
    return headers
  }

  /** The other side has said all. It does not want the rest of a request that is still being sent. */
  #endOf(stream: Stream): void {
    if (stream.isSent && stream.request.ends) this.#forget(stream)
    else this.cancel(stream)
  }

  #reset(head: Required<FrameHead>, payload: Buffer): void {
    const code = readNumber(payload)
    const stream = this.#streamOf(head)
    if (stream === undefined) return
    this.#forget(stream)
    const cause = new Error(`the stream was ended with code ${code}`)
    stream.reader.fail({ cause, sent: stream.isSent && code !== errorCodes.refusedStream })
  }

  #settings(head: Required<FrameHead>, payload: Buffer): void {
    if ((head.flags & flags.ack) !== 0) return
    if (head.stream !== 0 || payload.length % 6 !== 0) throw new MalformedHttp2('settings that cannot be read')
    for (let at = 0; at < payload.length; at += 6) this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    this.#write(frame({ type: frameTypes.settings, flags: flags.ack }))
    this.#isKnown = true
    this.#onSettings()
    this.#beginWaiting()
    this.#sendBlocked()
  }

  #set(id: number, value: number): void {
    if (id === settings.maxConcurrentStreams) this.#maxStreams = value
    else if (id === settings.maxFrameSize) {
      if (value < maxFrameBytes || value >= 2 ** 24) throw new MalformedHttp2(`frames of ${value} bytes`)
      this.#peerFrame = value
    } else if (id === settings.initialWindowSize) {
      if (value > largestWindow) throw new MalformedHttp2(`a window of ${value} bytes`)
      for (const stream of this.#streams.values()) stream.window += value - this.#peerWindow
      this.#peerWindow = value
    }
  }

  #ping(head: Required<FrameHead>, payload: Buffer): void {
    if (head.stream !== 0 || payload.length !== 8) throw new MalformedHttp2('a ping that cannot be read')
    if ((head.flags & flags.ack) === 0) this.#write(frame({ type: frameTypes.ping, flags: flags.ack }, payload))
  }

  /** The other side takes no more streams, and none of ours beyond the last that it names. */
  #goAway(payload: Buffer): void {
    if (payload.length < 8) throw new MalformedHttp2('a farewell that cannot be read')
    const last = payload.readUInt32BE(0) & largestWindow
    const code = payload.readUInt32BE(4)
    this.#takesMore = false
    if (code !== 0) this.#failure ??= new Error(`the member ended the connection with code ${code}`)
    const cause = this.#failure ?? new Error('the member is going away')
    const unread = [...this.#streams.values().filter(({ id }) => id > last), ...this.#waiting]
    this.#waiting.clear()
    for (const stream of unread) {
      this.#forget(stream)
      stream.reader.fail({ cause, sent: false })
    }
    this.#endIfIdle()
  }

  #moreWindow({ stream: id }: Required<FrameHead>, payload: Buffer): void {
    const more = readNumber(payload) & largestWindow
    const stream = this.#streams.get(id)
    if (id === 0) this.#window += more
    else if (stream !== undefined) stream.window += more
    if (more === 0 || this.#window > largestWindow || (stream?.window ?? 0) > largestWindow) {
      throw new MalformedHttp2('a window that cannot be')
    }
    this.#sendBlocked()
  }

  /** Undefined: it has ended, and something was still on its way. Of one that never began nothing can come. */
  #streamOf({ stream }: Required<FrameHead>): Stream | undefined {
    if (stream % 2 === 0 || stream >= this.#nextId) throw new MalformedHttp2(`a frame of stream ${stream}`)
    return this.#streams.get(stream)
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream.id)
    this.#blocked.delete(stream)
    this.#beginWaiting()
    if (!this.#takesMore) this.#endIfIdle()
  }

  #beginWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#streams.size >= this.#maxStreams) return
      this.#waiting.delete(stream)
      this.#begin(stream)
    }
  }

  #endIfIdle(): void {
    if (!this.#takesMore && this.#streams.size + this.#waiting.size === 0) this.destroy()
  }

  #ended(): void {
    this.#takesMore = false
    const cause = this.#failure
    const open = [...this.#streams.values(), ...this.#waiting]
    this.#streams.clear()
    this.#waiting.clear()
    this.#blocked.clear()
    for (const stream of open) stream.reader.fail({ ...(cause && { cause }), sent: stream.isSent })
    this.#onClosed(cause)
  }

  /** What is written in one turn leaves in one piece. */
  #write(bytes: Buffer): void {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#socket.cork()
      setImmediate(() => {
        this.#isCorked = false
        this.#socket.uncork()
      })
    }
    this.#socket.write(bytes)
  }
}

type Part = readonly [head: FrameHead, payload: Buffer]

function twoFrames([first, headers]: Part, [second, body]: Part): Buffer {
  const bytes = Buffer.allocUnsafe(2 * frameHeadBytes + headers.length + body.length)
  writeFrameHead(bytes, headers.length, first)
  headers.copy(bytes, frameHeadBytes)
  const rest = bytes.subarray(frameHeadBytes + headers.length)
  writeFrameHead(rest, body.length, second)
  body.copy(rest, frameHeadBytes)
  return bytes
}

function readNumber(payload: Buffer): number {
  if (payload.length !== 4) throw new MalformedHttp2('a frame that cannot be read')
  return payload.readUInt32BE(0)
}
