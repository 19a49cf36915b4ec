/**
 * Headers as HTTP/2 writes them (HPACK, RFC 7541), without its memory: nothing that is sent is to be remembered, and the
 * other side is told to remember nothing for us either (`headerTableSize` 0). Then the same headers are always the same
 * bytes, and a peer that answers thousands of calls alike is read once.
 */
import { MalformedHttp2 } from './frames.ts'
import { decodeHuffman } from './huffman.ts'

export type Headers = ReadonlyMap<string, string>

/** Headers that have a number of their own, from 1 on, as `name` or `name value`. */
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
  .map((header): [name: string, value: string] => {
    const [name = '', ...value] = header.split(' ')
    return [name, value.join(' ')]
  })

/** Headers to be sent, in their order; pseudo-headers first. */
export function encodeHeaders(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.of(0), encodeText(name), encodeText(value)]))
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([encodeLength(bytes.length), bytes])
}

/** In the seven low bits of a byte; from 127 on, the rest follows in sevens, the lowest first. */
function encodeLength(length: number): Buffer {
  if (length < 127) return Buffer.of(length)
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

export function decodeHeaders(block: Uint8Array): Headers {
  const headers = new Map<string, string>()
  const reader = new BlockReader(block)
  while (!reader.isAtEnd) {
    const first = reader.peek()
    if (first >= 0x80) {
      const [name, value] = numberedAt(reader.integer(7))
      headers.set(name, value)
    } else if (first >= 0x20 && first < 0x40) {
      // What the other side may remember from now on.
      if (reader.integer(5) !== 0) throw new MalformedHttp2('headers that are to be remembered')
    } else {
      // To be remembered, not, or by nobody: all the same here.
      const number = reader.integer(first >= 0x40 ? 6 : 4)
      const name = number === 0 ? reader.text() : numberedAt(number)[0]
      headers.set(name, reader.text())
    }
  }
  return headers
}

function numberedAt(number: number): [name: string, value: string] {
  const found = numbered[number - 1]
  if (found === undefined) throw new MalformedHttp2(`a header with the number ${number}`)
  return found
}

class BlockReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  peek(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new MalformedHttp2('headers that break off')
    return byte
  }

  /** A number that begins in the lowest `bits` of the next byte. */
  integer(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.#next() & most
    if (value < most) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#next()
      value += (byte & 127) << shift
      if (byte < 128) return value
    }
    throw new MalformedHttp2('a length that does not end')
  }

  text(): string {
    const isCoded = this.peek() >= 128
    const length = this.integer(7)
    if (length > this.#bytes.length - this.#at) throw new MalformedHttp2('headers that break off')
    const bytes = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return (isCoded ? decodeHuffman(bytes) : Buffer.from(bytes)).toString('latin1')
  }

  #next(): number {
    const byte = this.peek()
    this.#at++
    return byte
  }
}
