/**
 * Reads and writes the Protocol Buffers wire format without a schema: varints, tags, fixed-size values and
 * length-delimited fields.
 *
 * The reader treats its input as untrusted. It checks every length against the available bytes, limits nesting, and
 * throws WireError for malformed input. A 64-bit integer is never rounded: it is returned as a number if the number is
 * exact, or as a bigint on request. The writer writes to a single buffer. The caller decides which fields to omit.
 */
import { isUtf8 } from 'node:buffer'

/** The error for malformed Protobuf data. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

/** The wire type of a field, which determines how the value of the field is encoded. */
export type WireType = 0 | 1 | 2 | 3 | 4 | 5

const varint = 0
const fixed64 = 1
const delimited = 2
const groupStart = 3
const groupEnd = 4
const fixed32 = 5

const two32 = 0x1_0000_0000
/** Maximum nesting depth of messages. The limit for JSON is the same. */
const maxDepth = 512
const maxField = 0x1fff_ffff

/**
 * Reads the fields of one message in order. The caller alternates between `next()` and either one value method or
 * `skip()`.
 */
export class WireReader {
  wireType: WireType = varint
  #at: number
  #field = 0
  // The last varint, split into two unsigned 32-bit numbers.
  #low = 0
  #high = 0
  #end: number
  #depth: number
  readonly #bytes: Buffer

  constructor(bytes: Uint8Array, depth = 0) {
    if (depth > maxDepth) throw new WireError(`messages are nested more than ${maxDepth} levels deep`)
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = 0
    this.#end = bytes.byteLength
    this.#depth = depth
  }

  /** Returns the number of the next field, or 0 at the end of the message. */
  next(): number {
    if (this.#at === this.#end) return 0
    this.#varint()
    if (this.#high !== 0) throw new WireError('a tag is longer than 32 bits')
    const field = this.#low >>> 3
    if (field === 0) throw new WireError('invalid field number 0')
    this.wireType = wireTypeOf(this.#low & 7)
    this.#field = field
    return field
  }

  /** Reads a signed 64-bit integer. Throws an error if a JavaScript number cannot represent the integer exactly. */
  int64(): number {
    this.#expect(varint)
    this.#varint()
    const value = (this.#high | 0) * two32 + this.#low
    return exact(value)
  }

  /** Reads an unsigned 64-bit integer. Throws an error if a JavaScript number cannot represent the integer exactly. */
  uint64(): number {
    this.#expect(varint)
    this.#varint()
    return exact(this.#high * two32 + this.#low)
  }

  /** Reads a signed 64-bit integer. Returns a bigint if a JavaScript number cannot represent the integer exactly. */
  integer(): number | bigint {
    this.#expect(varint)
    this.#varint()
    const value = (this.#high | 0) * two32 + this.#low
    if (Number.isSafeInteger(value)) return value
    return BigInt.asIntN(64, (BigInt(this.#high) << 32n) | BigInt(this.#low))
  }

  int64Big(): bigint {
    return BigInt.asIntN(64, this.uint64Big())
  }

  uint64Big(): bigint {
    this.#expect(varint)
    this.#varint()
    return (BigInt(this.#high) << 32n) | BigInt(this.#low)
  }

  /**
   * Reads a signed 32-bit integer or an enum. As in other implementations, the upper bits of the varint are ignored.
   */
  int32(): number {
    this.#expect(varint)
    this.#varint()
    return this.#low | 0
  }

  uint32(): number {
    return this.int32() >>> 0
  }

  bool(): boolean {
    this.#expect(varint)
    this.#varint()
    return this.#low !== 0 || this.#high !== 0
  }

  fixed32(): number {
    this.#expect(fixed32)
    return this.#bytes.readUInt32LE(this.#take(4))
  }

  fixed64Big(): bigint {
    this.#expect(fixed64)
    return this.#bytes.readBigUInt64LE(this.#take(8))
  }

  double(): number {
    this.#expect(fixed64)
    return this.#bytes.readDoubleLE(this.#take(8))
  }

  float(): number {
    this.#expect(fixed32)
    return this.#bytes.readFloatLE(this.#take(4))
  }

  /** Returns the bytes of the field as a view that shares memory with the input. */
  view(): Uint8Array {
    const length = this.#length()
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Returns a copy of the field's bytes, so that the whole message need not stay in memory. */
  bytes(): Uint8Array {
    const view = this.view()
    const copy = new Uint8Array(view.length)
    copy.set(view)
    return copy
  }

  string(): string {
    const length = this.#length()
    const start = this.#take(length)
    const text = this.#bytes.toString('utf8', start, start + length)
    // A replacement character shows that decoding failed, unless the input itself contains this character.
    if (text.includes('\ufffd') && !isUtf8(this.#bytes.subarray(start, start + length))) {
      throw new WireError(`field ${this.#field} is not UTF-8`)
    }
    return text
  }

  /** Returns a reader for the nested message in the current field. */
  message(): WireReader {
    return new WireReader(this.view(), this.#depth + 1)
  }

  /**
   * Limits the reader to the nested message or packed values in the current field, until `leave` is called with the
   * returned value. Unlike `message`, this method allocates no new reader.
   */
  enter(): number {
    const length = this.#length()
    if (++this.#depth > maxDepth) throw new WireError(`messages are nested more than ${maxDepth} levels deep`)
    const outer = this.#end
    this.#end = this.#at + length
    this.wireType = varint
    return outer
  }

  leave(outer: number): void {
    this.#at = this.#end
    this.#end = outer
    this.#depth--
  }

  /** Whether the end of the current message has been reached. */
  get atEnd(): boolean {
    return this.#at === this.#end
  }

  /** Skips the value of a field. */
  skip(): void {
    this.#skip(this.wireType, this.#field, this.#depth)
  }

  #skip(wireType: WireType, field: number, depth: number): void {
    switch (wireType) {
      case varint:
        this.#varint()
        return
      case fixed64:
        this.#take(8)
        return
      case delimited:
        this.#varint()
        this.#take(this.#checkedLength())
        return
      case groupStart:
        this.#skipGroup(field, depth + 1)
        return
      case groupEnd:
        throw new WireError(`group ${field} has an end tag but no start tag`)
      case fixed32:
        this.#take(4)
        return
    }
  }

  #skipGroup(field: number, depth: number): void {
    if (depth > maxDepth) throw new WireError(`groups are nested more than ${maxDepth} levels deep`)
    for (;;) {
      const inner = this.next()
      if (inner === 0) throw new WireError(`group ${field} has no end tag`)
      if (this.wireType === groupEnd) {
        if (inner !== field) throw new WireError(`group ${field} is closed by group ${inner}`)
        return
      }
      this.#skip(this.wireType, inner, depth)
    }
  }

  #length(): number {
    this.#expect(delimited)
    this.#varint()
    return this.#checkedLength()
  }

  #checkedLength(): number {
    if (this.#high !== 0 || this.#low > this.#end - this.#at)
      throw new WireError('a length prefix extends past the end of the message')
    return this.#low
  }

  #take(count: number): number {
    const start = this.#at
    if (count > this.#end - start) throw new WireError('a value extends past the end of the message')
    this.#at = start + count
    return start
  }

  // Reads a varint, which has at most ten bytes. Only one bit of the tenth byte is used.
  #varint(): void {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at === this.#end) throw new WireError('a varint extends past the end of the message')
      const byte = this.#bytes[this.#at++]!
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high = bits >>> 4
      } else high |= shift === 63 ? (bits & 1) << 31 : bits << (shift - 32)
      if (byte < 0x80) {
        this.#low = low >>> 0
        this.#high = high >>> 0
        return
      }
    }
    throw new WireError('a varint is longer than ten bytes')
  }

  #expect(wireType: WireType): void {
    if (this.wireType !== wireType) {
      throw new WireError(`field ${this.#field} has wire type ${this.wireType}, not ${wireType}`)
    }
  }
}

function wireTypeOf(bits: number): WireType {
  if (bits > 5) throw new WireError(`unknown wire type ${bits}`)
  return bits as WireType
}

function exact(value: number): number {
  if (!Number.isSafeInteger(value)) throw new WireError('an integer exceeds 2^53')
  return value
}

/**
 * Writes one message into a buffer that grows as needed. The first `room` bytes are left free for the caller's header.
 */
export class WireWriter {
  #buffer: Buffer
  #at: number

  constructor(room = 0, size = 256) {
    this.#buffer = Buffer.allocUnsafe(Math.max(size, room + 16))
    this.#buffer.fill(0, 0, room)
    this.#at = room
  }

  /** Writes a signed or unsigned 64-bit integer, an enum or any smaller integer. */
  integer(field: number, value: number | bigint): void {
    this.#tag(field, varint)
    if (typeof value === 'bigint') this.#writeBig(BigInt.asUintN(64, value))
    else if (!Number.isSafeInteger(value)) throw new WireError(`the integer cannot be represented exactly: ${value}`)
    else if (value < 0) this.#writeBig(BigInt.asUintN(64, BigInt(value)))
    else this.#writeVarint(value)
  }

  bool(field: number, value: boolean): void {
    this.integer(field, value ? 1 : 0)
  }

  bytes(field: number, value: Uint8Array): void {
    this.#tag(field, delimited)
    this.#writeVarint(value.length)
    this.#reserve(value.length)
    this.#buffer.set(value, this.#at)
    this.#at += value.length
  }

  /** Writes the tag and the length of a length-delimited field. The caller writes the content. */
  lengthOf(field: number, length: number): void {
    this.#tag(field, delimited)
    this.#writeVarint(length)
  }

  string(field: number, value: string): void {
    const length = Buffer.byteLength(value)
    this.#tag(field, delimited)
    this.#writeVarint(length)
    this.#reserve(length)
    this.#buffer.write(value, this.#at, 'utf8')
    this.#at += length
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, fixed32)
    this.#reserve(4)
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, fixed64)
    this.#reserve(8)
    this.#at = this.#buffer.writeBigUInt64LE(value, this.#at)
  }

  double(field: number, value: number): void {
    this.#tag(field, fixed64)
    this.#reserve(8)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
  }

  /**
   * Writes a nested message. The length is inserted once the content is written. The content moves if the length needs
   * more than one byte.
   */
  message(field: number, write: (inner: this) => void): void {
    const start = this.begin(field)
    write(this)
    this.end(start)
  }

  /** Begins a nested message. Pass the returned value to `end`. */
  begin(field: number): number {
    this.#tag(field, delimited)
    this.#reserve(1)
    return ++this.#at
  }

  end(start: number): void {
    const length = this.#at - start
    const extra = varintSize(length) - 1
    if (extra > 0) {
      this.#reserve(extra)
      this.#buffer.copyWithin(start + extra, start, this.#at)
    }
    this.#at = start - 1
    this.#writeVarint(length)
    this.#at += length
  }

  /** Returns the written bytes, including the reserved bytes at the front. The writer must not be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }

  #tag(field: number, wireType: WireType): void {
    if (!Number.isInteger(field) || field < 1 || field > maxField) throw new WireError(`invalid field number: ${field}`)
    this.#writeVarint(field * 8 + wireType)
  }

  #writeVarint(value: number): void {
    this.#reserve(10)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#at++] = rest
  }

  #writeBig(value: bigint): void {
    this.#reserve(10)
    let rest = value
    while (rest >= 0x80n) {
      this.#buffer[this.#at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#buffer[this.#at++] = Number(rest)
  }

  #reserve(count: number): void {
    const neededBytes = this.#at + count
    if (neededBytes <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(neededBytes, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#at)
    this.#buffer = grown
  }
}

/**
 * Returns the encoded size in bytes of a length-delimited field, including its tag and length. The field number must be
 * below 16.
 */
export function delimitedSize(length: number): number {
  return 1 + varintSize(length) + length
}

/**
 * Writes the tag and the length of a length-delimited field, whose number must be below 16. Returns the offset after
 * them.
 */
export function putHead(buffer: Buffer, at: number, { field, length }: { field: number; length: number }): number {
  let place = at
  buffer[place++] = field * 8 + delimited
  let rest = length
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) buffer[place++] = (rest % 0x80) | 0x80
  buffer[place++] = rest
  return place
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}
