/** The frames of HTTP/2 (RFC 9113): nine bytes that say how long, of what kind and of which stream, and what they carry. */
import { ByteQueue } from '../../base/collections/byte-queue.ts'

/** What kinds of frames there are. */
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

/** `endStream` is of data and headers, `ack` of settings and pings. */
export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

/** What the ends tell each other of themselves. */
export const settings = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

/** Why a stream is reset, or a connection ended. */
export const errorCodes = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  /** The other side asks for more than anybody needs. */
  excess: 11,
} as const

/** One of them. */
export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes]

/** What a client sends before all frames. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

export const frameHeadBytes = 9
/** The largest frame that a peer may send unless it was told otherwise; it is not. */
export const maxFrameBytes = 16_384
/** What either side may send before it was told otherwise, and the most that it can be told. */
export const firstWindow = 65_535
export const largestWindow = 2 ** 31 - 1

/** The other side does not speak HTTP/2, or not as it must. */
export class MalformedHttp2 extends Error {
  override readonly name = 'MalformedHttp2'
  /** What the other side is told. */
  readonly code: ErrorCode

  constructor(what: string, code: ErrorCode = errorCodes.protocol) {
    super(`HTTP/2 that cannot be: ${what}`)
    this.code = code
  }
}

/** What is told of a frame beside its length. */
export interface FrameHead {
  readonly type: number
  readonly flags?: number
  /** 0: the connection itself. */
  readonly stream?: number
}

/** Writes the head of a frame with `length` bytes of payload to the beginning of `into`. */
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

/** A whole frame. */
export function frame(head: FrameHead, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length)
  writeFrameHead(bytes, payload.length, head)
  bytes.set(payload, frameHeadBytes)
  return bytes
}

/** A frame of settings. */
export function settingsFrame(values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * values.length)
  for (const [i, [id, value]] of values.entries()) {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  }
  return frame({ type: frameTypes.settings }, payload)
}

/** A frame that carries one number: a window that grows, or the code of a reset. */
export function numberFrame(head: FrameHead, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(value)
  return frame(head, payload)
}

export type TakeFrame = (head: Required<FrameHead>, payload: Buffer) => void

/**
 * Cuts what arrives into frames. However small its parts are, each byte is read once, and no more memory is held than the
 * frame has of which some is missing.
 */
export class FrameCutter {
  readonly #take: TakeFrame
  /** What must come before all frames. */
  #first: Buffer | undefined
  readonly #held = new ByteQueue()
  /** How many bytes there must be before anything can be done with them. */
  #needed: number

  constructor(take: TakeFrame, first?: Buffer) {
    this.#take = take
    this.#first = first
    this.#needed = first?.length ?? frameHeadBytes
  }

  push(chunk: Buffer): void {
    if (this.#held.size + chunk.length < this.#needed) {
      this.#held.add(chunk)
      return
    }
    const bytes = this.#joined(chunk)
    const used = this.#cut(bytes, this.#skipFirst(bytes))
    if (used < bytes.length) this.#held.add(bytes.subarray(used))
  }

  #joined(chunk: Buffer): Buffer {
    if (this.#held.size === 0) return chunk
    this.#held.add(chunk)
    const bytes = this.#held.join()
    this.#held.clear()
    return bytes
  }

  #skipFirst(bytes: Buffer): number {
    const first = this.#first
    if (first === undefined) return 0
    if (!bytes.subarray(0, first.length).equals(first)) throw new MalformedHttp2('no preface')
    this.#first = undefined
    return first.length
  }

  /** Returns where the first frame begins that is not whole. */
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
        // The first bit means nothing.
        stream: bytes.readUInt32BE(at + 5) & largestWindow,
      }
      at = payloadAt + length
      this.#take(head, bytes.subarray(payloadAt, at))
    }
    this.#needed = frameHeadBytes
    return at
  }
}

/** What a frame of data or headers carries without its padding, and for headers without a priority. */
export function withoutPadding({ type, flags: set }: Required<FrameHead>, payload: Buffer): Buffer {
  const isPadded = (set & flags.padded) !== 0
  const start = (isPadded ? 1 : 0) + (type === frameTypes.headers && (set & flags.priority) !== 0 ? 5 : 0)
  const stop = payload.length - (isPadded ? (payload[0] ?? 0) : 0)
  if (start > stop) throw new MalformedHttp2('a frame with more padding than bytes')
  return start === 0 && stop === payload.length ? payload : payload.subarray(start, stop)
}
