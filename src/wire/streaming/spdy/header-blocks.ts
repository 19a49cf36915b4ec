/**
 * SPDY/3 header blocks. A header block contains names and values, and all blocks of a connection are compressed in one
 * zlib stream with a preset dictionary.
 *
 * Every block ends with a zlib flush. Each block can therefore be decompressed separately, with the last 32 KiB of
 * earlier data as the dictionary. No decompressor has to stay in memory, and the size of each block can be limited.
 * Blocks are sent uncompressed, so no compressor is needed.
 */
import { constants, inflateRawSync } from 'node:zlib'
import { dictionary } from './dictionary.ts'
import { SpdyError } from './spdy-error.ts'

const windowBytes = 32 * 1024
const maxBlockBytes = 16 * 1024
const maxHeaders = 64
/** Properties of a zlib stream header: its length, the flag for a preset dictionary, and the compression method. */
const streamHead = { bytes: 6, usesDictionary: 0x20, deflate: 8 }

export class HeaderDecoder {
  #history: Buffer = dictionary
  #hasBegun = false

  /**
   * Decodes a header block into a map of header values by lower-case name. If a header has multiple values, the map
   * contains only the first value.
   */
  decode(block: Buffer): Map<string, string> {
    const text = this.#inflate(this.#hasBegun ? block : withoutHead(block))
    this.#hasBegun = true
    this.#history = Buffer.concat([this.#history, text]).subarray(-windowBytes)
    return readHeaders(text)
  }

  #inflate(block: Buffer): Buffer {
    try {
      return inflateRawSync(block, {
        dictionary: this.#history,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: maxBlockBytes,
      })
    } catch {
      throw new SpdyError('a header block is damaged or too large')
    }
  }
}

function withoutHead(block: Buffer): Buffer {
  const [method = 0, flags = 0] = block
  const isRight = (method & 0x0f) === streamHead.deflate && (flags & streamHead.usesDictionary) !== 0
  if (!isRight || block.length < streamHead.bytes)
    throw new SpdyError('header blocks are not compressed with the SPDY/3 dictionary')
  return block.subarray(streamHead.bytes)
}

function readHeaders(text: Buffer): Map<string, string> {
  const reader = new TextReader(text)
  const count = reader.number()
  if (count > maxHeaders) throw new SpdyError('a header block has too many headers')
  const headers = new Map<string, string>()
  for (let i = 0; i < count; i++) {
    const name = reader.text().toLowerCase()
    headers.set(name, reader.text().split('\0', 1)[0]!)
  }
  return headers
}

class TextReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(): number {
    return this.#take(4).readUInt32BE()
  }

  text(): string {
    return this.#take(this.number()).toString('latin1')
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new SpdyError('a header block is truncated')
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }
}

/**
 * A zlib header for deflate with SPDY/3's dictionary. The checksum in the last four bytes identifies the dictionary.
 */
const zlibHead = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])
/** An empty stored block. It marks the point up to which a receiver can decompress. */
const flush = Buffer.from([0, 0, 0, 0xff, 0xff])

/** Encodes the header blocks that one side of a connection sends. The first block also contains the zlib header. */
export class HeaderEncoder {
  #hasBegun = false

  encode(headers: { readonly [name: string]: string } = {}): Buffer {
    const entries = Object.entries(headers)
    const text = Buffer.concat([number(entries.length), ...entries.flat().map(withLength)])
    const stored = Buffer.alloc(5)
    stored.writeUInt16LE(text.length, 1)
    stored.writeUInt16LE(text.length ^ 0xffff, 3)
    const head = this.#hasBegun ? [] : [zlibHead]
    this.#hasBegun = true
    return Buffer.concat([...head, stored, text, flush])
  }
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([number(bytes.length), bytes])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
