/**
 * A SPDY/3.1 client for tests that opens streams, writes to them and records the responses. It has its own framing
 * code.
 */
import type { Duplex } from 'node:stream'
import { constants, deflateRawSync } from 'node:zlib'
import { dictionary } from '../../src/wire/streaming/spdy/dictionary.ts'
import { soon } from './until.ts'

const zlibHead = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])

export interface ClientStream {
  text: string
  isReplied: boolean
  isEnded: boolean
  isReset: boolean
}

export class SpdyClient {
  readonly streams = new Map<number, ClientStream>()
  /** Received window updates, by stream. Stream 0 represents the connection. */
  readonly windows = new Map<number, number>()
  readonly pings: number[] = []
  isClosed = false
  hasGoneAway = false
  readonly #socket: Duplex
  #history: Buffer = dictionary
  #hasBegun = false
  #nextId = 1
  #waiting = Buffer.alloc(0)

  constructor(socket: Duplex) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
    })
  }

  open(headers: { readonly [name: string]: string }): number {
    const id = this.#nextId
    this.#nextId += 2
    this.openAs(id, headers)
    return id
  }

  openAs(id: number, headers: { readonly [name: string]: string }): void {
    this.streams.set(id, { text: '', isReplied: false, isEnded: false, isReset: false })
    this.control(1, Buffer.concat([number(id), number(0), Buffer.from([0, 0]), this.#compress(headersOf(headers))]))
  }

  send(id: number, text: string | Buffer): void {
    const data = Buffer.from(text)
    this.#socket.write(Buffer.concat([number(id), number(data.length), data]))
  }

  end(id: number): void {
    this.#socket.write(Buffer.concat([number(id), number(0x01000000)]))
  }

  control(type: number, body: Buffer): void {
    this.#socket.write(Buffer.concat([Buffer.from([0x80, 3, 0, type]), number(body.length), body]))
  }

  window(id: number, bytes: number): void {
    this.control(9, Buffer.concat([number(id), number(bytes)]))
  }

  raw(bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  close(): void {
    this.#socket.end()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  async ended(id: number): Promise<string> {
    const stream = this.streams.get(id)!
    await soon(() => stream.isEnded || stream.isReset || this.isClosed)
    return stream.text
  }

  #compress(text: Buffer): Buffer {
    const block = deflateRawSync(text, { dictionary: this.#history, finishFlush: constants.Z_SYNC_FLUSH })
    this.#history = Buffer.concat([this.#history, text]).subarray(-32768)
    const isFirst = !this.#hasBegun
    this.#hasBegun = true
    return isFirst ? Buffer.concat([zlibHead, block]) : block
  }

  #take(chunk: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, chunk])
    while (this.#waiting.length >= 8) {
      const length = this.#waiting.readUIntBE(5, 3)
      if (this.#waiting.length < 8 + length) return
      const frame = this.#waiting.subarray(0, 8 + length)
      this.#waiting = this.#waiting.subarray(8 + length)
      if ((frame[0]! & 0x80) === 0) this.#takeData(frame)
      else this.#takeControl(frame[3]!, frame.subarray(8))
    }
  }

  #takeData(frame: Buffer): void {
    const stream = this.streams.get(frame.readUInt32BE(0))!
    stream.text += frame.subarray(8).toString('latin1')
    if (frame[4] === 1) stream.isEnded = true
  }

  #takeControl(type: number, body: Buffer): void {
    const id = body.readUInt32BE(0)
    const stream = this.streams.get(id)
    if (type === 2 && stream !== undefined) stream.isReplied = true
    if (type === 3 && stream !== undefined) stream.isReset = true
    if (type === 6) this.pings.push(id)
    if (type === 7) this.hasGoneAway = true
    if (type === 9) this.windows.set(id, (this.windows.get(id) ?? 0) + body.readUInt32BE(4))
  }
}

/** Encodes a header block before compression. */
export function headersOf(headers: { readonly [name: string]: string }): Buffer {
  const all = Object.entries(headers)
  const texts = all.flat().flatMap((text) => [number(Buffer.byteLength(text)), Buffer.from(text)])
  return Buffer.concat([number(all.length), ...texts])
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
