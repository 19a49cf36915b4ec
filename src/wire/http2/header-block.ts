/**
 * Header compression for HTTP/2 (HPACK, RFC 7541). The encoder never uses the dynamic table, so equal headers always
 * have equal encodings. The decoder supports the peer's dynamic table up to a limit.
 */
import { errorCodes, MalformedHttp2 } from './frames.ts'
import { decodeHuffman } from './huffman.ts'

/** HPACK's static table from index 1 on. Each entry is a name, or a name and a value. */
const numbered = [
  ':authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204',
  ':status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|accept-encoding gzip, deflate',
  'accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control',
  'content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type',
  'cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since',
  'last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after',
  'server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate',
]
  .join('|')
  .split('|')
  .map((header): Entry => {
    const [name = '', ...value] = header.split(' ')
    return [name, value.join(' ')]
  })

type Entry = readonly [name: string, value: string]

const numbers: ReadonlyMap<string, number> = new Map(
  numbered.map(([name], i): [string, number] => [name, i + 1]).toReversed(),
)
const statuses: ReadonlyMap<string, number> = new Map(
  numbered.flatMap(([name, value], i): [string, number][] => (name === ':status' ? [[value, i + 1]] : [])),
)

/**
 * A byte at the start of a header block that sets the dynamic table size to 0. HPACK requires such an update after the
 * peer has reduced the maximum.
 */
export const rememberNothing = 0x20

/**
 * Returns the maximum number of bytes that the given headers take when encoded. The list alternates between names and
 * values.
 */
export function maxEncodedBytes(headers: readonly string[]): number {
  let bytes = 1
  for (const text of headers) bytes += text.length + maxNumberBytes
  return bytes
}

const maxNumberBytes = 5

/**
 * Encodes headers into a buffer, from offset `start`. Pseudo-headers must come first. Returns the offset after them.
 */
export function writeHeaders(into: Buffer, start: number, headers: readonly string[]): number {
  const writer = new BlockWriter(into, start)
  for (let i = 0; i < headers.length; i += 2) writer.header(headers[i]!, headers[i + 1]!)
  return writer.at
}

/** Returns an encoded header block. The list alternates between names and values. */
export function encodeHeaders(headers: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(maxEncodedBytes(headers))
  return bytes.subarray(0, writeHeaders(bytes, 0, headers))
}

class BlockWriter {
  at: number
  readonly #into: Buffer

  constructor(into: Buffer, start: number) {
    this.#into = into
    this.at = start
  }

  header(name: string, value: string): void {
    const whole = name === ':status' ? statuses.get(value) : undefined
    if (whole !== undefined) {
      this.#into[this.at++] = 0x80 | whole
      return
    }
    const number = numbers.get(name)
    this.#number(number ?? 0, 4)
    if (number === undefined) this.#text(name)
    this.#text(value)
  }

  #text(text: string): void {
    this.#number(text.length, 7)
    this.at += this.#into.write(text, this.at, 'latin1')
  }

  /**
   * Writes an HPACK integer. Its first `bits` bits share a byte with other fields. A larger value continues in groups
   * of seven bits, lowest first.
   */
  #number(value: number, bits: number): void {
    const most = 2 ** bits - 1
    this.#into[this.at++] = Math.min(value, most)
    if (value < most) return
    let rest = value - most
    for (; rest >= 128; rest >>= 7) this.#into[this.at++] = (rest & 127) | 128
    this.#into[this.at++] = rest
  }
}

/** Overhead of each dynamic-table entry in bytes. */
const entryBytes = 32

export interface DecoderLimits {
  /** Maximum size of the dynamic table in bytes. */
  readonly remembered: number
  /** Maximum number of headers in a block. */
  readonly count: number
  readonly bytes: number
}

/** Decodes the header blocks of one connection. The blocks must be passed in order. */
export class HeaderDecoder {
  readonly #limits: DecoderLimits
  /** The dynamic table, newest entry last. */
  readonly #remembered: Entry[] = []
  #rememberedBytes = 0
  #mayRemember: number

  constructor(limits: DecoderLimits) {
    this.#limits = limits
    this.#mayRemember = limits.remembered
  }

  /** Decodes a header block into alternating names and values. Returns undefined if the headers exceed the limits. */
  decode(block: Buffer): string[] | undefined {
    const headers: string[] = []
    const reader = new BlockReader(block)
    this.#resize(reader)
    let bytes = 0
    while (!reader.isAtEnd) {
      const [name, value] = this.#next(reader)
      bytes += name.length + value.length + entryBytes
      // Keep decoding after the limit is exceeded, so that the dynamic table stays in sync with the peer.
      if (bytes > this.#limits.bytes || headers.length >= 2 * this.#limits.count) bytes = Number.POSITIVE_INFINITY
      else headers.push(name, value)
    }
    return bytes === Number.POSITIVE_INFINITY ? undefined : headers
  }

  /** Handles updates of the dynamic table size, which are allowed only at the start of a header block. */
  #resize(reader: BlockReader): void {
    while (!reader.isAtEnd && isResize(reader.peek())) {
      const size = reader.integer(5)
      if (size > this.#limits.remembered) throw broken('the header table size exceeds its limit')
      this.#mayRemember = size
      this.#forget()
    }
  }

  #next(reader: BlockReader): Entry {
    const first = reader.peek()
    if (first >= 0x80) return this.#at(reader.integer(7))
    if (isResize(first)) throw broken('a table size update inside a header block')
    if (first < 0x40) return this.#literal(reader, 4)
    const entry = this.#literal(reader, 6)
    this.#remember(entry)
    return entry
  }

  #literal(reader: BlockReader, bits: number): Entry {
    const number = reader.integer(bits)
    const name = number === 0 ? reader.text() : this.#at(number)[0]
    return [name, reader.text()]
  }

  #at(number: number): Entry {
    const tableEntry = numbered[number - 1] ?? this.#remembered[this.#remembered.length - (number - numbered.length)]
    if (tableEntry === undefined || number === 0) throw broken(`invalid header index ${number}`)
    return tableEntry
  }

  #remember(entry: Entry): void {
    this.#remembered.push(entry)
    this.#rememberedBytes += entrySize(entry)
    this.#forget()
  }

  #forget(): void {
    while (this.#rememberedBytes > this.#mayRemember) this.#rememberedBytes -= entrySize(this.#remembered.shift()!)
  }
}

function isResize(first: number): boolean {
  return first >= 0x20 && first < 0x40
}

function entrySize([name, value]: Entry): number {
  return name.length + value.length + entryBytes
}

class BlockReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  peek(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw broken('a header block is truncated')
    return byte
  }

  /** Reads an HPACK integer whose first `bits` bits share a byte with other fields. */
  integer(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.#next() & most
    if (value < most) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#next()
      value += (byte & 127) << shift
      if (byte < 128) return value
    }
    throw broken('a length is too long')
  }

  text(): string {
    const isCoded = this.peek() >= 128
    const length = this.integer(7)
    const start = this.#at
    if (length > this.#bytes.length - start) throw broken('a header block is truncated')
    this.#at += length
    if (!isCoded) return this.#bytes.toString('latin1', start, this.#at)
    return decodeHuffman(this.#bytes.subarray(start, this.#at)).toString('latin1')
  }

  #next(): number {
    const byte = this.peek()
    this.#at++
    return byte
  }
}

function broken(what: string): MalformedHttp2 {
  return new MalformedHttp2(what, errorCodes.compression)
}
