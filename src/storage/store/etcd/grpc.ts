/**
 * The gRPC layer on HTTP/2: a five-byte header before each message, a status in the trailers, and a timeout in a
 * request header. The client neither offers nor accepts compression.
 */
import type { Headers } from './http2-client.ts'

export const frameHeaderBytes = 5

/**
 * Maximum size of a received message. The limit is far above the size of a page or a watch batch, but small enough to
 * limit memory use.
 */
export const maxMessageBytes = 64 * 1024 * 1024

/** The gRPC status codes that this client handles. */
export const status = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const

/** The error of a failed gRPC call. */
export class CallError extends Error {
  override readonly name = 'CallError'
  /** The gRPC status code. Undefined if the transport failed before a status arrived. */
  readonly code: number | undefined
  /** Whether the request may have reached the member. */
  readonly sent: boolean

  constructor(message: string, options: ErrorOptions & { code?: number; sent: boolean }) {
    super(message, options)
    this.code = options.code
    this.sent = options.sent
  }
}

/** Writes the header of a message into the `frameHeaderBytes` bytes that are reserved before the message. */
export function seal(framed: Buffer): Buffer {
  framed[0] = 0
  framed.writeUInt32BE(framed.length - frameHeaderBytes, 1)
  return framed
}

/** Splits the bytes of a stream into messages. */
export class MessageCutter {
  #pending: Buffer[] = []
  #length = 0

  /** Adds a chunk and returns the messages that the chunk completes. */
  push(chunk: Buffer): Buffer[] {
    this.#pending.push(chunk)
    this.#length += chunk.length
    const messages: Buffer[] = []
    while (this.#length >= frameHeaderBytes) {
      const size = this.#nextSize()
      if (this.#length < frameHeaderBytes + size) break
      messages.push(this.#shift(frameHeaderBytes + size).subarray(frameHeaderBytes))
    }
    return messages
  }

  #nextSize(): number {
    const head = this.#pending[0]!.length >= frameHeaderBytes ? this.#pending[0]! : this.#join()
    if (head[0] !== 0) throw new CallError('etcd sent an unexpected compressed message', { sent: true })
    const size = head.readUInt32BE(1)
    if (size > maxMessageBytes) throw new MessageTooLarge(size)
    return size
  }

  #shift(count: number): Buffer {
    const all = this.#join()
    this.#pending = count === all.length ? [] : [all.subarray(count)]
    this.#length -= count
    return all.subarray(0, count)
  }

  // Joins the received chunks of a message into one buffer. Must be called only when a message is complete or its
  // header is split over several chunks. Otherwise, bytes would be copied more than once.
  #join(): Buffer {
    const all = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    this.#pending = [all]
    return all
  }
}

/** An error for a response that exceeds the size limit. The caller should request less data. */
export class MessageTooLarge extends CallError {
  constructor(size: number) {
    super(`a response of ${size} bytes exceeds the limit of ${maxMessageBytes} bytes`, { sent: true })
  }
}

/**
 * Returns the error in the headers or trailers, or undefined if they contain no status or a status without an error.
 */
export function failureOf(headers: Headers): CallError | undefined {
  const code = headers.get('grpc-status')
  if (code === undefined || code === '0') return undefined
  return new CallError(decodeMessage(headers.get('grpc-message') ?? `gRPC status ${code}`), {
    code: Number(code),
    sent: true,
  })
}

// Decodes percent-encoded UTF-8. Returns a malformed error text unchanged.
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Formats a timeout for the header `grpc-timeout`, in milliseconds. The minimum is one millisecond. */
export function timeoutHeader(ms: number): string {
  return `${Math.max(1, Math.ceil(ms))}m`
}
