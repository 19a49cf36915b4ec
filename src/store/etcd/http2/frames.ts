/** The frames of HTTP/2 (RFC 9113): nine bytes that say how long, of what kind and of which stream, and what they carry. */

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

export const settings = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const

/** The codes of a reset or a farewell that mean something to us. */
export const errorCodes = { refusedStream: 7, cancel: 8 } as const

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

  constructor(what: string) {
    super(`HTTP/2 that cannot be: ${what}`)
  }
}

export interface FrameHead {
  readonly type: number
  readonly flags?: number
  /** 0: the connection itself. */
  readonly stream?: number
}

/** Writes the head of a frame with `length` bytes of payload to the beginning of `into`. */
export function writeFrameHead(into: Buffer, length: number, { type, flags: set = 0, stream = 0 }: FrameHead): void {
  into.writeUIntBE(length, 0, 3)
  into[3] = type
  into[4] = set
  into.writeUInt32BE(stream, 5)
}

export function frame(head: FrameHead, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length)
  writeFrameHead(bytes, payload.length, head)
  bytes.set(payload, frameHeadBytes)
  return bytes
}

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

/** Cuts what comes into frames. */
export class FrameCutter {
  readonly #take: TakeFrame
  #rest: Buffer | undefined

  constructor(take: TakeFrame) {
    this.#take = take
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= frameHeadBytes) {
      const length = bytes.readUIntBE(at, 3)
      if (length > maxFrameBytes) throw new MalformedHttp2(`a frame of ${length} bytes`)
      const payloadAt = at + frameHeadBytes
      if (bytes.length - payloadAt < length) break
      const head = {
        type: bytes[at + 3]!,
        flags: bytes[at + 4]!,
        // The first bit means nothing.
        stream: bytes.readUInt32BE(at + 5) & largestWindow,
      }
      at = payloadAt + length
      this.#take(head, bytes.subarray(payloadAt, at))
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at)
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
