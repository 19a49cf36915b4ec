/**
 * Frames of WebSocket (RFC 6455), the server's side: messages that the client sends in one or several masked frames, and
 * whole messages in answer. Messages are bounded; extensions are not spoken.
 */
import { createHash } from 'node:crypto'

export type Message =
  | { readonly type: 'data'; readonly data: Buffer }
  | { readonly type: 'ping'; readonly data: Buffer }
  | { readonly type: 'close' }

/** The client does not keep to the protocol; `code` is what the closing frame says. */
export class WebSocketError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
/** Why a connection is closed. */
export const closeCodes = { normal: 1000, protocolError: 1002, tooLarge: 1009, internal: 1011 } as const
const maxMessageBytes = 1024 * 1024
const maxControlBytes = 125
const none = Buffer.alloc(0)

export class MessageReader {
  #waiting: Buffer = none
  #partBytes = 0
  /** Of a message that comes in several frames. */
  #parts: Buffer[] | undefined;

  /** The messages that are complete with this. Throws WebSocketError. */
  *read(chunk: Buffer): Generator<Message, void, void> {
    this.#waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk])
    for (;;) {
      const message = this.#next()
      if (message === undefined) return
      if (message !== 'partial') yield message
    }
  }

  #next(): Message | 'partial' | undefined {
    const head = readHead(this.#waiting)
    if (head === undefined) return undefined
    const { opcode, isFinal, length, dataAt, mask } = head
    if (opcode >= opcodes.close && (!isFinal || length > maxControlBytes))
      throw new WebSocketError(closeCodes.protocolError, 'a control frame is in parts or too large')
    if (this.#partBytes + length > maxMessageBytes)
      throw new WebSocketError(closeCodes.tooLarge, 'a message is too large')
    if (this.#waiting.length < dataAt + length) return undefined
    const data = unmasked(this.#waiting.subarray(dataAt, dataAt + length), mask)
    this.#waiting = this.#waiting.subarray(dataAt + length)
    if (opcode === opcodes.close) return { type: 'close' }
    if (opcode === opcodes.ping) return { type: 'ping', data }
    if (opcode === opcodes.pong) return 'partial'
    return this.#join(head, data)
  }

  #join({ opcode, isFinal }: Head, data: Buffer): Message | 'partial' {
    const isFirst = opcode === opcodes.text || opcode === opcodes.binary
    if (isFirst === (this.#parts !== undefined) || (!isFirst && opcode !== opcodes.more))
      throw new WebSocketError(closeCodes.protocolError, 'a frame is out of place')
    if (isFirst && isFinal) return { type: 'data', data }
    this.#parts = [...(this.#parts ?? []), data]
    this.#partBytes += data.length
    if (this.#parts.length > maxParts) throw new WebSocketError(closeCodes.tooLarge, 'a message has too many parts')
    if (!isFinal) return 'partial'
    const whole = Buffer.concat(this.#parts)
    this.#parts = undefined
    this.#partBytes = 0
    return { type: 'data', data: whole }
  }
}

const maxParts = 1024

interface Head {
  readonly opcode: number
  readonly isFinal: boolean
  readonly length: number
  /** Where the data begins. */
  readonly dataAt: number
  readonly mask: Buffer
}

/** Undefined where some of it is yet to come. */
function readHead(bytes: Buffer): Head | undefined {
  if (bytes.length < 2) return undefined
  const [first, second] = [bytes[0]!, bytes[1]!]
  if ((first & 0x70) !== 0) throw new WebSocketError(closeCodes.protocolError, 'a frame uses an extension')
  if ((second & 0x80) === 0) throw new WebSocketError(closeCodes.protocolError, 'a frame of the client is not masked')
  const short = second & 0x7f
  const maskAt = short === 126 ? 4 : short === 127 ? 10 : 2
  if (bytes.length < maskAt + 4) return undefined
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  const mask = bytes.subarray(maskAt, maskAt + 4)
  return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, length, dataAt: maskAt + 4, mask }
}

function unmasked(data: Buffer, mask: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(data.length)
  for (let i = 0; i < data.length; i++) plain[i] = data[i]! ^ mask[i & 3]!
  return plain
}

export function dataFrame(type: 'text' | 'binary', data: Buffer): Buffer {
  return frameOf(opcodes[type], data)
}

export function pongFrame(data: Buffer): Buffer {
  return frameOf(opcodes.pong, data)
}

export function closeFrame(code: number): Buffer {
  return frameOf(opcodes.close, Buffer.from([code >> 8, code & 0xff]))
}

function frameOf(opcode: number, data: Buffer): Buffer {
  const head =
    data.length < 126
      ? Buffer.from([0x80 | opcode, data.length])
      : Buffer.from([0x80 | opcode, 126, data.length >> 8, data.length & 0xff])
  if (data.length > 0xffff) throw new RangeError('a frame of this size is sent in parts')
  return Buffer.concat([head, data])
}

/** What proves that this side has understood the request. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
