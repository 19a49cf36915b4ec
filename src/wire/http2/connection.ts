/**
 * What both ends of a connection of HTTP/2 (RFC 9113) do alike: they read frames, obey and grant windows, gather headers
 * that come in several frames, answer pings and settings, and send bodies as far as the other side takes them.
 *
 * Node's own makes two streams, a map of headers and a dozen listeners for each request (docs/decisions/0045). Here a
 * request is an entry in a map.
 *
 * No more is sent of a body than the other side has said that it takes, and no more than `maxUnsent` is handed to a socket
 * that does not get it away. Bodies that wait take turns. A peer that does not keep to the protocol ends the connection.
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

/** How much is handed to a socket ahead of what it has got away. */
const maxUnsent = 512 * 1024
/** How much of a body is sent before it is the turn of the next one. */
const turnBytes = 64 * 1024

/** A shorter part of headers that go on in the next frame is cut for no reason. */
const usefulPart = 1024
/** How many settings a frame may have: there are seven of them. */
const maxSettings = 32

/** What a connection knows of a stream to send on it. */
export class Http2Stream {
  /** 0: not begun. */
  id = 0
  /** How much of it the other side takes yet. */
  window = 0
  /** Whether nothing is to be sent after what was handed over, and whether the other side has been told so. */
  isEnding = false
  isEnded = false
  /** What was handed over and is not sent yet. */
  #waiting: Buffer[] | undefined
  unsent = 0
  #onSent: (() => void)[] | undefined
  #isDropped = false

  /** Resolves when all that was handed over is sent, or never will be. */
  whenSent(): Promise<void> {
    if (this.unsent === 0 || this.#isDropped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onSent ??= []
      this.#onSent.push(resolve)
    })
  }

  /** What is to be sent next. */
  get next(): Buffer | undefined {
    return this.#waiting?.[0]
  }

  wait(bytes: Buffer): void {
    this.#waiting ??= []
    this.#waiting.push(bytes)
    this.unsent += bytes.length
  }

  /** So much of what is next has been sent. */
  sent(bytes: number): void {
    const [next] = this.#waiting!
    this.unsent -= bytes
    if (bytes < next!.length) this.#waiting![0] = next!.subarray(bytes)
    else this.#waiting!.shift()
    if (this.unsent === 0) this.#tellSent()
  }

  /** Nothing more will be sent. */
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
  /** How long a block of headers may be as it is sent. */
  readonly blockBytes: number
}

/** One end of a connection. */
export abstract class Http2Connection<S extends Http2Stream> {
  protected readonly socket: Socket
  protected readonly streams = new Map<number, S>()
  protected readonly outgoing: Outgoing
  readonly #cutter: FrameCutter
  readonly #decoder: HeaderDecoder
  readonly #blockBytes: number
  /** Streams whose bodies wait for a window, or for the socket. */
  readonly #blocked = new Set<S>()
  /** How much the other side takes yet on all streams, and of a new one. */
  #window = firstWindow
  #streamWindow = firstWindow
  /** Headers of which more is to follow. */
  #begun: { head: Required<FrameHead>; block: ByteQueue; length: number } | undefined
  /** Whether the other side has shown that it speaks HTTP/2. */
  #isKnown = false
  /** Whether nothing more is read. */
  #isOver = false
  /** How many bytes are dropped before the connection is. */
  #mayDrop = 0

  /** `first` is what must come before all frames. */
  protected constructor(socket: Socket, { headers, blockBytes }: ConnectionLimits, first?: Buffer) {
    this.socket = socket
    this.outgoing = new Outgoing(socket, () => this.#onSent())
    this.#decoder = new HeaderDecoder(headers)
    this.#blockBytes = blockBytes
    this.#cutter = new FrameCutter((head, payload) => this.#receive(head, payload), first)
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
  }

  /** Whether the other side has shown that it speaks HTTP/2. */
  protected get isKnown(): boolean {
    return this.#isKnown
  }

  /** Whether headers have begun that have not ended. */
  protected get isInHeaders(): boolean {
    return this.#begun !== undefined
  }

  /** The other side does not keep to the protocol. */
  protected abstract onMalformed(error: Error): void
  /** The stream of a frame; undefined: it has ended, and something was still on its way. Throws where it never began. */
  protected abstract streamOf(id: number): S | undefined
  /** `length` is how much of the windows it takes: more than the data where there is padding. */
  protected abstract onBody(head: Required<FrameHead>, data: Buffer, length: number): void
  /** `headers` alternate names and values; undefined: they are more than may be. */
  protected abstract onHeaders(head: Required<FrameHead>, headers: string[] | undefined): void
  protected abstract onReset(stream: S | undefined, code: number): void
  protected abstract onSetting(id: number, value: number): void
  protected abstract onSettings(): void
  /** The other side takes no streams after this one. */
  protected abstract onGoAway(lastStream: number, code: number): void
  /** The other side has been told that the stream ends. */
  protected abstract onEnded(stream: S): void

  /** How much may wait for a peer that does not take it before what it sends is not read any more. */
  protected get maxUntaken(): number {
    return 2 * maxUnsent
  }

  /** The other side has sent so many frames, or parts of one, that neither begin a stream nor carry a body. */
  protected onIdleFrames(_count: number): void {}

  /** This side has sent a frame of a body. */
  protected onBodySent(_bytes: number): void {}

  /** Nothing more is read. What arrives is dropped, and the connection with it once that is more than `maxDropped` bytes. */
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

  /** `block` are headers as they are encoded. The stream ends with them where it is ending. */
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
   * The stream ends with it where it is ending. What is not sent at once is kept as it is: `stream.whenSent` tells until
   * when.
   */
  protected sendData(stream: S, bytes: Buffer): void {
    const sent = stream.unsent === 0 ? this.#sendSome(stream, bytes, Number.POSITIVE_INFINITY) : 0
    if (sent < bytes.length) stream.wait(sent === 0 ? bytes : bytes.subarray(sent))
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

  /** Sends of a body what may be sent of it; returns how much that was. */
  #sendSome(stream: S, bytes: Buffer, most: number): number {
    let sent = 0
    do {
      const count = Math.max(0, Math.min(bytes.length - sent, this.#window, stream.window, maxFrameBytes))
      if ((count === 0 && bytes.length > 0) || this.outgoing.unsent >= maxUnsent) return sent
      const isLast = stream.isEnding && sent + count === bytes.length && stream.unsent <= bytes.length
      const head = { type: frameTypes.data, flags: isLast ? flags.endStream : 0, stream: stream.id }
      if (count > 0 || isLast) this.sendFrame(head, count === bytes.length ? bytes : bytes.subarray(sent, sent + count))
      this.#window -= count
      stream.window -= count
      sent += count
      stream.isEnded = isLast
      this.onBodySent(count)
    } while (sent < bytes.length && sent < most)
    return sent
  }

  /** Bodies that wait, in turns, as long as there is room for any. */
  #sendBlocked(): void {
    if (this.#blocked.size === 0 || this.socket.destroyed) return
    for (let hasSent = true; hasSent; ) {
      hasSent = false
      for (const stream of [...this.#blocked]) if (this.#sendTurn(stream)) hasSent = true
    }
  }

  /** False where nothing could be sent. */
  #sendTurn(stream: S): boolean {
    const before = stream.unsent
    for (let left = turnBytes; left > 0; ) {
      const next = stream.next ?? nothing
      const sent = this.#sendSome(stream, next, left)
      left -= sent
      if (sent > 0) stream.sent(sent)
      if (sent < next.length || stream.unsent === 0) break
    }
    // To the end of the queue, if there is more.
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
    // What stands behind the end is not read.
    if (this.#isOver || this.socket.destroyed) return
    if (!this.#isKnown && head.type !== frameTypes.settings) throw new MalformedHttp2('no settings')
    if (this.#begun !== undefined && head.type !== frameTypes.continuation) {
      throw new MalformedHttp2('headers that do not go on')
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
        throw new MalformedHttp2('a push, which was not asked for')
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

  /** Alternating names and values; undefined: they are more than may be. */
  protected decode(decoder: HeaderDecoder, block: Buffer): string[] | undefined {
    return decoder.decode(block)
  }

  /** The headers with what goes on in further frames; undefined while more is to come. */
  #wholeBlock(head: Required<FrameHead>, payload: Buffer): { head: Required<FrameHead>; bytes: Buffer } | undefined {
    const isFirst = head.type === frameTypes.headers
    if (!isFirst && this.#begun?.head.stream !== head.stream) throw new MalformedHttp2('headers without a beginning')
    const part = isFirst ? withoutPadding(head, payload) : payload
    const isLast = (head.flags & flags.endHeaders) !== 0
    if (isFirst && isLast) return { head, bytes: part }
    this.#begun ??= { head, block: new ByteQueue(), length: 0 }
    const begun = this.#begun
    if (part.length < usefulPart) this.onIdleFrames(1)
    // An empty part counts too, or they could come for ever.
    begun.length += frameHeadBytes + part.length
    if (begun.length > this.#blockBytes) {
      throw new MalformedHttp2(`headers of more than ${this.#blockBytes} bytes`, errorCodes.excess)
    }
    begun.block.add(part)
    if (!isLast) return undefined
    this.#begun = undefined
    return { head: begun.head, bytes: begun.block.join() }
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

  /** Changes the windows of all streams, so it costs as much as that many frames. */
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
    if (more === 0) throw new MalformedHttp2('a window that grows by nothing')
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
  return new MalformedHttp2(`a window above ${largestWindow} bytes`, errorCodes.flowControl)
}

function unreadable(what: string): MalformedHttp2 {
  return new MalformedHttp2(`${what} that cannot be read`, errorCodes.frameSize)
}

function readNumber(payload: Buffer): number {
  if (payload.length !== 4) throw unreadable('a number')
  return payload.readUInt32BE(0)
}
