/**
 * HTTP/2 frames (RFC 9113). A frame consists of a nine-byte head with length, type, flags and stream ID, followed by
 * the payload.
 */
import { ByteQueue } from '../../base/collections/byte-queue.ts'

/** The types of HTTP/2 frames. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const

/** Frame flags. `endStream` applies to data and headers, `ack` to settings and pings. */
export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

/** Identifiers of HTTP/2 settings. */
export const settings = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

/** Error codes for resetting a stream or closing a connection. */
export const errorCodes = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  /** The error code ENHANCE_YOUR_CALM, for a peer that causes excessive load. */
  excess: 11,
} as const

/** An HTTP/2 error code. */
export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes]

/** The bytes that a client must send at the beginning of a connection. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

export const frameHeadBytes = 9
/** Default maximum size of a frame in bytes. Neither client nor server changes this size. */
export const maxFrameBytes = 16_384
/** Default size of a flow-control window in bytes. */
export const firstWindow = 65_535
export const largestWindow = 2 ** 31 - 1

/** The error for a protocol violation, or for a peer that does not speak HTTP/2. */
export class MalformedHttp2 extends Error {
  override readonly name = 'MalformedHttp2'
  /** The HTTP/2 error code to send to the peer. */
  readonly code: ErrorCode

  constructor(what: string, code: ErrorCode = errorCodes.protocol) {
    super(`invalid HTTP/2: ${what}`)
    this.code = code
  }
}

/** The fields at the start of a frame, except for the length. */
export interface FrameHead {
  readonly type: number
  readonly flags?: number
  /** The stream that the frame belongs to. 0 means the connection as a whole. */
  readonly stream?: number
}

/** Writes the head of a frame with a payload of `length` bytes to the start of `into`. */
export function writeFrameHead(into: Buffer, length: number, { type, flags: set = 0, stream = 0 }: FrameHead): void {
  into[0] = length >> 16
  into[1] = length >> 8
  into[2] = length
  into[3] = type
  into[4] = set
  into[5] = stream >> 24
  into[6] = stream >> 16
  into[7] = stream >> 8
  into[8] = stream
}

/** Returns an encoded frame. */
export function frame(head: FrameHead, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length)
  writeFrameHead(bytes, payload.length, head)
  bytes.set(payload, frameHeadBytes)
  return bytes
}

/** Returns a SETTINGS frame. */
export function settingsFrame(values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * values.length)
  for (const [i, [id, value]] of values.entries()) {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  }
  return frame({ type: frameTypes.settings }, payload)
}

/** Returns a frame whose payload is a 32-bit number: a window update or a stream reset. */
export function numberFrame(head: FrameHead, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(value)
  return frame(head, payload)
}

export type TakeFrame = (head: Required<FrameHead>, payload: Buffer) => void

/**
 * Splits incoming data into frames. Each byte is read only once, even if the chunks are small, and at most one
 * incomplete frame is buffered.
 */
export class FrameCutter {
  readonly #take: TakeFrame
  /** The bytes that the peer must send before any frame. */
  #first: Buffer | undefined
  readonly #pendingBytes = new ByteQueue()
  /** Number of bytes needed to continue: a frame head or a whole frame. */
  #needed: number

  constructor(take: TakeFrame, first?: Buffer) {
    this.#take = take
    this.#first = first
    this.#needed = first?.length ?? frameHeadBytes
  }

  push(chunk: Buffer): void {
    if (this.#pendingBytes.size + chunk.length < this.#needed) {
      this.#pendingBytes.add(chunk)
      return
    }
    const bytes = this.#joined(chunk)
    const used = this.#cut(bytes, this.#skipFirst(bytes))
    if (used < bytes.length) this.#pendingBytes.add(bytes.subarray(used))
  }

  #joined(chunk: Buffer): Buffer {
    if (this.#pendingBytes.size === 0) return chunk
    this.#pendingBytes.add(chunk)
    const bytes = this.#pendingBytes.join()
    this.#pendingBytes.clear()
    return bytes
  }

  #skipFirst(bytes: Buffer): number {
    const first = this.#first
    if (first === undefined) return 0
    if (!bytes.subarray(0, first.length).equals(first)) throw new MalformedHttp2('the connection preface is missing')
    this.#first = undefined
    return first.length
  }

  /** Adds a chunk and handles the complete frames. Returns the position of the first incomplete frame. */
  #cut(bytes: Buffer, start: number): number {
    let at = start
    while (bytes.length - at >= frameHeadBytes) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
      if (length > maxFrameBytes) throw new MalformedHttp2(`a frame of ${length} bytes`, errorCodes.frameSize)
      const payloadAt = at + frameHeadBytes
      this.#needed = frameHeadBytes + length
      if (bytes.length - payloadAt < length) return at
      const head = {
        type: bytes[at + 3]!,
        flags: bytes[at + 4]!,
        // Mask the first bit, which is reserved and must be ignored.
        stream: bytes.readUInt32BE(at + 5) & largestWindow,
      }
      at = payloadAt + length
      this.#take(head, bytes.subarray(payloadAt, at))
    }
    this.#needed = frameHeadBytes
    return at
  }
}

/** Returns the payload of a DATA or HEADERS frame without its padding and priority fields. */
export function withoutPadding({ type, flags: set }: Required<FrameHead>, payload: Buffer): Buffer {
  const isPadded = (set & flags.padded) !== 0
  const start = (isPadded ? 1 : 0) + (type === frameTypes.headers && (set & flags.priority) !== 0 ? 5 : 0)
  const stop = payload.length - (isPadded ? (payload[0] ?? 0) : 0)
  if (start > stop) throw new MalformedHttp2('the padding exceeds the frame')
  return start === 0 && stop === payload.length ? payload : payload.subarray(start, stop)
}
