/**
 * The parts of an HTTP/2 connection (RFC 9113) that are the same for client and server. They parse frames, handle flow
 * control, assemble headers from multiple frames, respond to pings and settings, and send bodies as the windows allow.
 *
 * Node's own implementation creates two streams, a header map and a dozen listeners per request (docs/decisions/0045).
 * In this implementation, a request is one entry in a map.
 *
 * A connection never sends more of a body than the peer's windows allow, and never passes more than `maxUnsent` bytes
 * to a slow socket. Pending bodies take turns. A protocol violation ends the connection.
 */
import type { Socket } from 'node:net'
import { ByteQueue } from '../../base/collections/byte-queue.ts'
import {
  type ErrorCode,
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
  settings,
  withoutPadding,
  writeFrameHead,
} from './frames.ts'
import { type DecoderLimits, HeaderDecoder } from './header-block.ts'
import { Outgoing } from './outgoing.ts'

/** Maximum number of bytes that have been passed to a socket but not yet flushed. */
const maxUnsent = 512 * 1024
/** Number of bytes to send from one body before switching to another. */
const turnBytes = 64 * 1024

/**
 * Minimum size in bytes of a useful header fragment. A peer has no reason to send smaller fragments, so these count as
 * idle frames.
 */
const usefulPart = 1024
/** Maximum number of settings in a frame. The protocol defines only seven settings. */
const maxSettings = 32

/** The sending side of a stream: its flow-control window and its queue of unsent data. */
export class Http2Stream {
  /** The stream ID, or 0 if the stream has not been started yet. */
  id = 0
  /** Number of bytes that the peer's flow-control window still allows. */
  window = 0
  /** Whether no more data will be queued. If so, the last queued frame ends the stream. */
  isEnding = false
  isEnded = false
  /** Data that is queued but not sent yet. */
  #waiting: Buffer[] | undefined
  unsent = 0
  #onSent: (() => void)[] | undefined
  #isDropped = false

  /** Resolves when the queue is empty, because everything was sent or dropped. */
  whenSent(): Promise<void> {
    if (this.unsent === 0 || this.#isDropped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onSent ??= []
      this.#onSent.push(resolve)
    })
  }

  /** The first chunk in the queue. */
  get next(): Buffer | undefined {
    return this.#waiting?.[0]
  }

  wait(bytes: Buffer): void {
    this.#waiting ??= []
    this.#waiting.push(bytes)
    this.unsent += bytes.length
  }

  /** Called after the first `bytes` bytes of the queue have been sent, to remove them. */
  sent(bytes: number): void {
    const [next] = this.#waiting!
    this.unsent -= bytes
    if (bytes < next!.length) this.#waiting![0] = next!.subarray(bytes)
    else this.#waiting!.shift()
    if (this.unsent === 0) this.#tellSent()
  }

  /** Drops the queue. No more data will be sent on the stream. */
  drop(): void {
    this.#isDropped = true
    this.#waiting = undefined
    this.#tellSent()
  }

  #tellSent(): void {
    const waiting = this.#onSent
    this.#onSent = undefined
    for (const tell of waiting ?? []) tell()
  }
}

export interface ConnectionLimits {
  readonly headers: DecoderLimits
  /** Maximum size of an encoded header block in bytes. */
  readonly blockBytes: number
}

/** One end of an HTTP/2 connection. */
export abstract class Http2Connection<S extends Http2Stream> {
  protected readonly socket: Socket
  protected readonly streams = new Map<number, S>()
  protected readonly outgoing: Outgoing
  readonly #cutter: FrameCutter
  readonly #decoder: HeaderDecoder
  readonly #blockBytes: number
  /** Streams with queued data. They wait for the peer's flow-control window or for the socket. */
  readonly #blocked = new Set<S>()
  /** Remaining send window of the whole connection. */
  #window = firstWindow
  #streamWindow = firstWindow
  /** The part of the current header block that has arrived so far. More CONTINUATION frames must follow. */
  #openBlock: { head: Required<FrameHead>; block: ByteQueue; length: number } | undefined
  /** Whether the peer's first SETTINGS frame has arrived. */
  #isKnown = false
  /** Whether the connection has stopped reading. */
  #isOver = false
  /** Number of bytes that may still be discarded before the connection is closed. */
  #mayDrop = 0

  /** Creates a connection on a socket. `first` is the preface that the peer must send before its first frame. */
  protected constructor(socket: Socket, { headers, blockBytes }: ConnectionLimits, first?: Buffer) {
    this.socket = socket
    this.outgoing = new Outgoing(socket, () => this.#onSent())
    this.#decoder = new HeaderDecoder(headers)
    this.#blockBytes = blockBytes
    this.#cutter = new FrameCutter((head, payload) => this.#receive(head, payload), first)
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
  }

  /** Whether the peer has sent its settings. */
  protected get isKnown(): boolean {
    return this.#isKnown
  }

  /** Whether a header block is incomplete. If so, only CONTINUATION frames may follow. */
  protected get isInHeaders(): boolean {
    return this.#openBlock !== undefined
  }

  /** Handles a protocol violation by the peer. */
  protected abstract onMalformed(error: Error): void
  /**
   * Returns the stream with the given ID, or undefined if the stream has already ended. Throws an error if the stream
   * never existed.
   */
  protected abstract streamOf(id: number): S | undefined
  /** Called for each DATA frame. `length` counts against the flow-control window and includes padding. */
  protected abstract onBody(head: Required<FrameHead>, data: Buffer, length: number): void
  /**
   * Called for each header block, with alternating names and values. `headers` is undefined if the block exceeds the
   * limits.
   */
  protected abstract onHeaders(head: Required<FrameHead>, headers: string[] | undefined): void
  protected abstract onReset(stream: S | undefined, code: number): void
  protected abstract onSetting(id: number, value: number): void
  protected abstract onSettings(): void
  /** Handles the peer's announcement that it will not process streams after `lastStream`. */
  protected abstract onGoAway(lastStream: number, code: number): void
  /** Called when the last frame of a stream has been sent. */
  protected abstract onEnded(stream: S): void

  /**
   * Number of unsent bytes above which the connection stops reading, because the peer does not read the data sent to
   * it.
   */
  protected get maxUntaken(): number {
    return 2 * maxUnsent
  }

  /** Called for frames that neither start a stream nor carry a body. An expensive frame counts several times. */
  protected onIdleFrames(_count: number): void {}

  /** Called after a DATA frame has been sent. */
  protected onBodySent(_bytes: number): void {}

  /** Stops reading. Discards additional data, and closes the connection after more than `maxDropped` bytes. */
  protected stopReading(maxDropped: number): void {
    this.#isOver = true
    this.#mayDrop = maxDropped
  }

  protected begin(stream: S, id: number): void {
    stream.id = id
    stream.window = this.#streamWindow
    this.streams.set(id, stream)
  }

  protected forget(stream: S): void {
    this.streams.delete(stream.id)
    this.#blocked.delete(stream)
    stream.drop()
  }

  /** Sends an encoded header block. If the stream has no body, the headers also end the stream. */
  protected sendHeaders(stream: S, block: Buffer): void {
    const ends = stream.isEnding ? flags.endStream : 0
    for (let at = 0, type: number = frameTypes.headers; at < block.length; at += maxFrameBytes) {
      const part = block.subarray(at, at + maxFrameBytes)
      const isWhole = at + part.length === block.length
      const set = (isWhole ? flags.endHeaders : 0) | (at === 0 ? ends : 0)
      this.sendFrame({ type, flags: set, stream: stream.id }, part)
      type = frameTypes.continuation
    }
    if (!stream.isEnding) return
    stream.isEnded = true
    this.onEnded(stream)
  }

  /**
   * Sends a part of a body, or the rest of the body if the stream is ending. Data that cannot be sent now is queued
   * without being copied, so the caller must not reuse the memory before `stream.whenSent` resolves.
   */
  protected sendData(stream: S, bytes: Buffer): void {
    const sentBytes = stream.unsent === 0 ? this.#sendSome(stream, bytes, Number.POSITIVE_INFINITY) : 0
    if (sentBytes < bytes.length) stream.wait(sentBytes === 0 ? bytes : bytes.subarray(sentBytes))
    if (stream.isEnded) this.onEnded(stream)
    else if (stream.isEnding || stream.unsent > 0) this.#blocked.add(stream)
  }

  protected sendReset(id: number, code: ErrorCode): void {
    this.sendNumber({ type: frameTypes.reset, stream: id }, code)
  }

  protected sendNumber(head: FrameHead, value: number): void {
    this.outgoing.add(numberFrame(head, value))
  }

  protected sendFrame(head: FrameHead, payload: Buffer): void {
    const bytes = this.outgoing.room(frameHeadBytes + payload.length)
    writeFrameHead(bytes, payload.length, head)
    payload.copy(bytes, frameHeadBytes)
  }

  /** Sends as much of a body as possible, and returns the number of sent bytes. */
  #sendSome(stream: S, bytes: Buffer, most: number): number {
    let sentBytes = 0
    do {
      const count = Math.max(0, Math.min(bytes.length - sentBytes, this.#window, stream.window, maxFrameBytes))
      if ((count === 0 && bytes.length > 0) || this.outgoing.unsent >= maxUnsent) return sentBytes
      const isLast = stream.isEnding && sentBytes + count === bytes.length && stream.unsent <= bytes.length
      const head = { type: frameTypes.data, flags: isLast ? flags.endStream : 0, stream: stream.id }
      if (count > 0 || isLast)
        this.sendFrame(head, count === bytes.length ? bytes : bytes.subarray(sentBytes, sentBytes + count))
      this.#window -= count
      stream.window -= count
      sentBytes += count
      stream.isEnded = isLast
      this.onBodySent(count)
    } while (sentBytes < bytes.length && sentBytes < most)
    return sentBytes
  }

  /** Sends queued data of all streams in turns, as long as the socket accepts more. */
  #sendBlocked(): void {
    if (this.#blocked.size === 0 || this.socket.destroyed) return
    for (let hasSent = true; hasSent; ) {
      hasSent = false
      for (const stream of [...this.#blocked]) if (this.#sendTurn(stream)) hasSent = true
    }
  }

  /** Sends one turn's worth of queued data of a stream. Returns false if nothing could be sent. */
  #sendTurn(stream: S): boolean {
    const before = stream.unsent
    for (let remainingBytes = turnBytes; remainingBytes > 0; ) {
      const next = stream.next ?? nothing
      const sentBytes = this.#sendSome(stream, next, remainingBytes)
      remainingBytes -= sentBytes
      if (sentBytes > 0) stream.sent(sentBytes)
      if (sentBytes < next.length || stream.unsent === 0) break
    }
    // If data is left, the stream moves to the end of the queue.
    this.#blocked.delete(stream)
    if (stream.isEnded) this.onEnded(stream)
    else if (stream.isEnding || stream.unsent > 0) this.#blocked.add(stream)
    return stream.unsent < before
  }

  #onSent(): void {
    this.#sendBlocked()
    if (this.outgoing.unsent <= this.maxUntaken && this.socket.isPaused()) this.socket.resume()
  }

  #onData(chunk: Buffer): void {
    if (this.#isOver) {
      this.#mayDrop -= chunk.length
      if (this.#mayDrop < 0) this.socket.destroy()
      return
    }
    try {
      this.#cutter.push(chunk)
    } catch (error) {
      this.onMalformed(error as Error)
      return
    }
    this.#sendBlocked()
    if (this.outgoing.unsent > this.maxUntaken) this.socket.pause()
  }

  #receive(head: Required<FrameHead>, payload: Buffer): void {
    // Ignore frames that arrive after the connection has ended.
    if (this.#isOver || this.socket.destroyed) return
    if (!this.#isKnown && head.type !== frameTypes.settings) throw new MalformedHttp2('the first frame is not SETTINGS')
    if (this.#openBlock !== undefined && head.type !== frameTypes.continuation) {
      throw new MalformedHttp2('a header block is not continued')
    }
    switch (head.type) {
      case frameTypes.data:
        this.onBody(head, withoutPadding(head, payload), payload.length)
        break
      case frameTypes.headers:
      case frameTypes.continuation:
        this.#headers(head, payload)
        break
      case frameTypes.priority:
        if (payload.length !== 5 || head.stream === 0) throw unreadable('a priority')
        this.onIdleFrames(1)
        break
      case frameTypes.reset:
        this.onReset(this.streamOf(head.stream), readNumber(payload))
        break
      case frameTypes.settings:
        this.#settings(head, payload)
        break
      case frameTypes.push:
        throw new MalformedHttp2('unexpected server push')
      case frameTypes.ping:
        if (head.stream !== 0 || payload.length !== 8) throw unreadable('a ping')
        this.onIdleFrames(1)
        if ((head.flags & flags.ack) === 0) this.sendFrame({ type: frameTypes.ping, flags: flags.ack }, payload)
        break
      case frameTypes.goaway:
        if (head.stream !== 0 || payload.length < 8) throw unreadable('a farewell')
        this.onIdleFrames(1)
        this.onGoAway(payload.readUInt32BE(0) & largestWindow, payload.readUInt32BE(4))
        break
      case frameTypes.window:
        this.onIdleFrames(1)
        this.#moreWindow(head, payload)
        break
      default:
        this.onIdleFrames(1)
    }
  }

  #headers(head: Required<FrameHead>, payload: Buffer): void {
    const block = this.#wholeBlock(head, payload)
    if (block === undefined) return
    this.onHeaders(block.head, this.decode(this.#decoder, block.bytes))
  }

  /** Decodes a header block into alternating names and values. Returns undefined if the headers exceed the limits. */
  protected decode(decoder: HeaderDecoder, block: Buffer): string[] | undefined {
    return decoder.decode(block)
  }

  /** Adds a fragment to the current header block. Returns the block once it is complete. */
  #wholeBlock(head: Required<FrameHead>, payload: Buffer): { head: Required<FrameHead>; bytes: Buffer } | undefined {
    const isFirst = head.type === frameTypes.headers
    if (!isFirst && this.#openBlock?.head.stream !== head.stream)
      throw new MalformedHttp2('CONTINUATION without HEADERS')
    const part = isFirst ? withoutPadding(head, payload) : payload
    const isLast = (head.flags & flags.endHeaders) !== 0
    if (isFirst && isLast) return { head, bytes: part }
    this.#openBlock ??= { head, block: new ByteQueue(), length: 0 }
    const openBlock = this.#openBlock
    if (part.length < usefulPart) this.onIdleFrames(1)
    // Count empty fragments too, because a peer could send an endless series of them.
    openBlock.length += frameHeadBytes + part.length
    if (openBlock.length > this.#blockBytes) {
      throw new MalformedHttp2(`a header block exceeds ${this.#blockBytes} bytes`, errorCodes.excess)
    }
    openBlock.block.add(part)
    if (!isLast) return undefined
    this.#openBlock = undefined
    return { head: openBlock.head, bytes: openBlock.block.join() }
  }

  #settings(head: Required<FrameHead>, payload: Buffer): void {
    const isAnswer = (head.flags & flags.ack) !== 0
    if (head.stream !== 0 || payload.length % 6 !== 0 || (isAnswer && payload.length > 0)) throw unreadable('settings')
    const count = payload.length / settingBytes
    if (count > maxSettings) throw new MalformedHttp2(`${count} settings in one frame`, errorCodes.excess)
    this.onIdleFrames(1 + count)
    if (isAnswer) return
    for (let at = 0; at < payload.length; at += settingBytes) {
      this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    }
    this.outgoing.add(frame({ type: frameTypes.settings, flags: flags.ack }))
    this.#isKnown = true
    this.onSettings()
  }

  #set(id: number, value: number): void {
    if (id === settings.initialWindowSize) this.#setStreamWindow(value)
    else if (id === settings.maxFrameSize && (value < maxFrameBytes || value >= 2 ** 24)) {
      throw new MalformedHttp2(`frames of ${value} bytes`)
    } else this.onSetting(id, value)
  }

  /**
   * Applies the peer's initial window to all open streams. Each open stream counts as one frame, because a peer could
   * change the window constantly.
   */
  #setStreamWindow(value: number): void {
    if (value > largestWindow) throw new MalformedHttp2(`a window of ${value} bytes`, errorCodes.flowControl)
    if (value === this.#streamWindow) return
    this.onIdleFrames(this.streams.size)
    for (const stream of this.streams.values()) {
      stream.window += value - this.#streamWindow
      if (stream.window > largestWindow) throw tooLarge()
    }
    this.#streamWindow = value
  }

  #moreWindow({ stream: id }: Required<FrameHead>, payload: Buffer): void {
    const more = readNumber(payload) & largestWindow
    if (more === 0) throw new MalformedHttp2('a window update with increment 0')
    const stream = id === 0 ? undefined : this.streamOf(id)
    if (id === 0) this.#window += more
    else if (stream !== undefined) stream.window += more
    if (this.#window > largestWindow || (stream?.window ?? 0) > largestWindow) {
      throw tooLarge()
    }
  }
}

const nothing = Buffer.alloc(0)

const settingBytes = 6

function tooLarge(): MalformedHttp2 {
  return new MalformedHttp2(`a window exceeds ${largestWindow} bytes`, errorCodes.flowControl)
}

function unreadable(what: string): MalformedHttp2 {
  return new MalformedHttp2(`malformed ${what}`, errorCodes.frameSize)
}

function readNumber(payload: Buffer): number {
  if (payload.length !== 4) throw unreadable('a number')
  return payload.readUInt32BE(0)
}
