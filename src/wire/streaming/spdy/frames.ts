/**
 * SPDY/3.1 frames. Control frames are limited in size and buffered completely. The payload of a data frame can be up to
 * 16 MiB long and is therefore delivered as it arrives.
 */
import { ByteQueue } from '../../../base/collections/byte-queue.ts'
import { SpdyError } from './spdy-error.ts'

export type Frame =
  | { readonly type: 'open'; readonly id: number; readonly isLast: boolean; readonly block: Buffer }
  | { readonly type: 'headers'; readonly id: number; readonly isLast: boolean; readonly block: Buffer }
  | { readonly type: 'data'; readonly id: number; readonly isLast: boolean; readonly data: Buffer }
  | { readonly type: 'reset'; readonly id: number }
  | { readonly type: 'window'; readonly id: number; readonly bytes: number }
  | { readonly type: 'settings'; readonly window: number | undefined }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'end' }

const types = { open: 1, reply: 2, reset: 3, settings: 4, ping: 6, end: 7, headers: 8, window: 9 } as const
const headBytes = 8
const maxControlBytes = 64 * 1024
const lastFlag = 1
const windowSetting = 7
const none = Buffer.alloc(0)

interface PartialData {
  readonly id: number
  readonly isLast: boolean
  remainingBytes: number
}

export class FrameReader {
  #waiting: Buffer = none
  /** The bytes of an incomplete frame. */
  readonly #pendingBytes = new ByteQueue()
  #needed = headBytes
  /** The data frame that is being received, and the number of bytes that are still missing. */
  #data: PartialData | undefined;

  /** Yields the frames that a chunk completes, and parts of data frames. Throws SpdyError for an invalid frame. */
  *read(chunk: Buffer): Generator<Frame, void, void> {
    if (!this.#join(chunk)) return
    for (;;) {
      const frame = this.#data === undefined ? this.#next() : this.#nextPart(this.#data)
      if (frame === undefined) break
      if (frame !== 'skipped') yield frame
    }
    if (this.#waiting.length > 0) this.#pendingBytes.add(this.#waiting)
    this.#waiting = none
  }

  /**
   * Adds a chunk to the buffer. Returns whether enough bytes have arrived to continue, so that small chunks are joined
   * only once.
   */
  #join(chunk: Buffer): boolean {
    if (this.#pendingBytes.size + chunk.length < this.#needed) {
      this.#pendingBytes.add(chunk)
      return false
    }
    if (this.#pendingBytes.size === 0) this.#waiting = chunk
    else {
      this.#pendingBytes.add(chunk)
      this.#waiting = this.#pendingBytes.join()
      this.#pendingBytes.clear()
    }
    this.#needed = 1
    return true
  }

  #next(): Frame | 'skipped' | undefined {
    if (this.#waiting.length < headBytes) return this.#wait(headBytes)
    const first = this.#waiting.readUInt32BE(0)
    const flags = this.#waiting[4]!
    const length = this.#waiting.readUIntBE(5, 3)
    if (first >>> 31 === 0) {
      this.#waiting = this.#waiting.subarray(headBytes)
      return this.#nextPart({ id: first, isLast: (flags & lastFlag) !== 0, remainingBytes: length })
    }
    if (length > maxControlBytes) throw new SpdyError('a control frame is too large')
    if (this.#waiting.length < headBytes + length) return this.#wait(headBytes + length)
    const body = this.#waiting.subarray(headBytes, headBytes + length)
    this.#waiting = this.#waiting.subarray(headBytes + length)
    if (((first >>> 16) & 0x7fff) !== 3) throw new SpdyError('a frame is not an SPDY/3 frame')
    return controlFrame(first & 0xffff, flags, body)
  }

  #wait(needed: number): undefined {
    this.#needed = needed
  }

  #nextPart(data: PartialData): Frame | undefined {
    if (data.remainingBytes > 0 && this.#waiting.length === 0) {
      this.#data = data
      return undefined
    }
    const part = this.#waiting.subarray(0, data.remainingBytes)
    this.#waiting = this.#waiting.subarray(part.length)
    data.remainingBytes -= part.length
    this.#data = data.remainingBytes === 0 ? undefined : data
    return { type: 'data', id: data.id, isLast: data.isLast && data.remainingBytes === 0, data: part }
  }
}

function controlFrame(type: number, flags: number, body: Buffer): Frame | 'skipped' {
  const isLast = (flags & lastFlag) !== 0
  switch (type) {
    case types.open:
      return { type: 'open', id: numberAt(body, 0) & 0x7fffffff, isLast, block: rest(body, 10) }
    case types.headers:
      return { type: 'headers', id: numberAt(body, 0) & 0x7fffffff, isLast, block: rest(body, 4) }
    case types.reset:
      return { type: 'reset', id: numberAt(body, 0) & 0x7fffffff }
    case types.window:
      return { type: 'window', id: numberAt(body, 0) & 0x7fffffff, bytes: numberAt(body, 4) & 0x7fffffff }
    case types.settings:
      return { type: 'settings', window: windowIn(body) }
    case types.ping:
      return { type: 'ping', id: numberAt(body, 0) }
    case types.end:
      return { type: 'end' }
    default:
      return 'skipped'
  }
}

/** Returns the initial window in a SETTINGS frame. If the setting occurs more than once, the last value applies. */
function windowIn(body: Buffer): number | undefined {
  const count = numberAt(body, 0)
  let window: number | undefined
  for (let i = 0; i < count && 12 + 8 * i <= body.length; i++)
    if ((numberAt(body, 4 + 8 * i) & 0xffffff) === windowSetting) window = numberAt(body, 8 + 8 * i) & 0x7fffffff
  return window
}

function numberAt(body: Buffer, at: number): number {
  if (body.length < at + 4) throw new SpdyError('a frame is truncated')
  return body.readUInt32BE(at)
}

function rest(body: Buffer, at: number): Buffer {
  if (body.length < at) throw new SpdyError('a frame is truncated')
  return body.subarray(at)
}

/** Returns the head of a data frame. */
export function dataFrame(id: number, data: Buffer): Buffer {
  return Buffer.concat([dataHead(id, data.length, 0), data])
}

/** Returns an empty data frame that ends a stream. */
export function lastFrame(id: number): Buffer {
  return dataHead(id, 0, lastFlag)
}

function dataHead(id: number, length: number, flags: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(id, 0)
  head[4] = flags
  head.writeUIntBE(length, 5, 3)
  return head
}

/** Returns a SYN_STREAM frame, which opens a stream. */
export function openFrame(id: number, block: Buffer): Buffer {
  const priority = Buffer.alloc(2)
  return controlOf('open', Buffer.concat([numbers(id, 0), priority, block]))
}

/** Returns a SYN_REPLY frame, which replies to an opened stream. */
export function replyFrame(id: number, block: Buffer): Buffer {
  return controlOf('reply', Buffer.concat([numbers(id), block]))
}

/** The status codes for resetting a stream. */
const resetReasons = { protocolError: 1, refused: 3, cancel: 5 } as const

export function resetFrame(id: number, reason: keyof typeof resetReasons): Buffer {
  return controlOf('reset', numbers(id, resetReasons[reason]))
}

/** Returns a WINDOW_UPDATE frame. The stream ID 0 refers to the whole connection. */
export function windowFrame(id: number, bytes: number): Buffer {
  return controlOf('window', numbers(id, bytes))
}

export function pingFrame(id: number): Buffer {
  return controlOf('ping', numbers(id))
}

/** Returns a GOAWAY frame, which announces that the server accepts no more streams. */
export function endFrame(lastId: number): Buffer {
  return controlOf('end', numbers(lastId, 0))
}

function controlOf(type: keyof typeof types, body: Buffer): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt16BE(0x8003, 0)
  head.writeUInt16BE(types[type], 2)
  head.writeUIntBE(body.length, 5, 3)
  return Buffer.concat([head, body])
}

function numbers(...all: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * all.length)
  all.forEach((each, i) => {
    bytes.writeUInt32BE(each, 4 * i)
  })
  return bytes
}
