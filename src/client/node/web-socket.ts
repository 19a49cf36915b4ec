/**
 * The client's side of a WebSocket (RFC 6455) on a connection that the server has upgraded: whole messages in both
 * directions. A sender waits while the connection is full, and the connection is read at the pace of who iterates over
 * the messages. What breaks the rules, and messages that are too long, end the connection with an error.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { TransportError } from '../transport.ts'
import type { UpgradedConnection } from './upgrade.ts'

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The headers that ask for a WebSocket with one of these protocols, and the answer that proves one. */
export function webSocketRequest(protocols: readonly string[]): {
  readonly headers: { readonly [name: string]: string }
  readonly accept: string
} {
  const key = randomBytes(16).toString('base64')
  const headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': protocols.join(', '),
  }
  return {
    headers,
    accept: createHash('sha1')
      .update(key + guid)
      .digest('base64'),
  }
}

const operations = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const maxMessage = 16 * 1024 * 1024
const maxControl = 125

interface Frame {
  readonly operation: number
  readonly last: boolean
  readonly payload: Buffer
}

/** One connection. Whoever opens it also ends it. */
export class WebSocketClient {
  /** The protocol that the server chose; '' for none. */
  readonly protocol: string
  readonly #socket: Duplex
  readonly #reader: FrameReader
  #closing = false

  /** `accept` is what the server must answer. Throws TransportError where it did not. */
  constructor({ socket, head, headers }: UpgradedConnection, accept: string) {
    this.#socket = socket
    this.protocol = headers['sec-websocket-protocol'] ?? ''
    if (headers['sec-websocket-accept'] !== accept) {
      socket.destroy()
      throw new TransportError('the server changed the protocol, but not to a WebSocket')
    }
    this.#reader = new FrameReader(socket, head)
    // Those who read or write get it.
    socket.on('error', () => {})
  }

  /** Resolves when the connection takes more. */
  async send(message: Uint8Array): Promise<void> {
    await this.#write(operations.binary, message)
  }

  /** Says goodbye; messages that are under way still come. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    await this.#write(operations.close, Buffer.from([0x03, 0xe8])).catch(() => {})
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Ends when the server closes. Throws TransportError where the connection breaks. */
  async *messages(): AsyncGenerator<Buffer> {
    let parts: Buffer[] = []
    let size = 0
    for await (const { operation, last, payload } of this.#reader.frames()) {
      if (operation === operations.close) {
        await this.close()
        this.#socket.end()
        return
      }
      if (operation === operations.ping) await this.#write(operations.pong, payload)
      if (operation >= operations.close) continue
      if ((operation === operations.continuation) === (parts.length === 0))
        throw new TransportError('a message has no beginning')
      size += payload.length
      if (size > maxMessage) throw new TransportError(`a message is longer than ${maxMessage} bytes`)
      parts.push(payload)
      if (!last) continue
      yield parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      parts = []
      size = 0
    }
    if (!this.#closing) throw new TransportError('the connection ended in the middle')
  }

  /** What a client sends is masked. */
  async #write(operation: number, payload: Uint8Array): Promise<void> {
    const mask = randomBytes(4)
    const masked = Buffer.from(payload)
    for (let i = 0; i < masked.length; i++) masked[i]! ^= mask[i & 3]!
    const free = this.#socket.write(Buffer.concat([headOf(operation, payload.length), mask, masked]))
    if (free || this.#socket.destroyed) return
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        this.#socket.off('drain', settle).off('close', settle)
        if (this.#socket.destroyed) reject(new TransportError('the connection ended in the middle'))
        else resolve()
      }
      this.#socket.on('drain', settle).on('close', settle)
    })
  }
}

function headOf(operation: number, length: number): Buffer {
  const first = 0x80 | operation
  if (length < 126) return Buffer.from([first, 0x80 | length])
  if (length < 65_536) {
    const head = Buffer.from([first, 0x80 | 126, 0, 0])
    head.writeUInt16BE(length, 2)
    return head
  }
  const head = Buffer.alloc(10)
  head.set([first, 0x80 | 127])
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

/** Cuts what comes into frames. */
class FrameReader {
  readonly #socket: Duplex
  #buffer: Buffer

  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket
    this.#buffer = head
  }

  async *frames(): AsyncGenerator<Frame> {
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame
    for await (const chunk of this.#socket) {
      this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame
    }
  }

  /** undefined: more has to come. */
  #next(): Frame | undefined {
    const head = this.#head()
    if (head === undefined || this.#buffer.length < head.start + head.length) return undefined
    const { start, length, operation, last } = head
    const payload = this.#buffer.subarray(start, start + length)
    this.#buffer = this.#buffer.subarray(start + length)
    return { operation, last, payload }
  }

  #head(): { start: number; length: number; operation: number; last: boolean } | undefined {
    const bytes = this.#buffer
    if (bytes.length < 2) return undefined
    const [operation, last] = [bytes[0]! & 0x0f, (bytes[0]! & 0x80) !== 0]
    if ((bytes[0]! & 0x70) !== 0 || (bytes[1]! & 0x80) !== 0)
      throw new TransportError('a frame has marks that nobody agreed on')
    const short = bytes[1]! & 0x7f
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < start) return undefined
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (length > (operation >= operations.close ? maxControl : maxMessage))
      throw new TransportError(`a frame of ${length} bytes is too long`)
    return { start, length, operation, last }
  }
}
