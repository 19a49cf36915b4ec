/** Parses a chunked body as it arrives. Trailers are checked and discarded. */
import { token } from '../../../wire/http/header-line.ts'
import { maxHeaderBytes } from '../connection-limits.ts'

/** Maximum total size of the chunk extensions in a body, which the server ignores. */
const maxExtensionBytes = 16 * 1024
const extensions = new RegExp(`^(?:;${token}(?:=(?:${token}|"(?:[^"\\\\]|\\\\.)*"))?)*$`)
/** Matches headers that are allowed in trailers. Headers that control how a request is parsed are not allowed. */
const header = new RegExp(`^(?!content-length:|transfer-encoding:|connection:|host:)${token}:`, 'i')
/** Maximum number of digits of a chunk size. Longer sizes could exceed the safe integer range. */
const maxDigits = 13

/** The parser's state: the kind of byte that must come next. */
type Place = 'digit' | 'more digits' | 'extension' | 'end of size' | 'data' | 'CR' | 'LF' | Trailing
type Trailing = 'trailer' | 'in trailer' | 'end of trailer' | 'last LF' | 'nothing'

const tab = 0x09
const lf = 0x0a
const cr = 0x0d
const semicolon = 0x3b

export class ChunkReader {
  #place: Place = 'digit'
  #digits = 0
  /** Number of bytes that are still missing from the current chunk. */
  #remainingBytes = 0
  /** The part of the current chunk extension or trailer line that has arrived so far. */
  readonly #line = new LineBytes()
  #extensionBytes = 0
  #trailerBytes = 0

  get isDone(): boolean {
    return this.#place === 'nothing'
  }

  /**
   * Reads the bytes that belong to the body. Returns their number and the decoded data, or undefined if the encoding is
   * invalid. All data from one call is in a single buffer, even if the chunks are small, because each buffer has
   * overhead.
   */
  read(bytes: Buffer): { readonly used: number; readonly content: Buffer } | undefined {
    const contentRanges: [from: number, to: number][] = []
    let i = 0
    while (i < bytes.length && this.#place !== 'nothing') {
      if (this.#place === 'data') {
        const to = Math.min(bytes.length, i + this.#remainingBytes)
        contentRanges.push([i, to])
        this.#remainingBytes -= to - i
        if (this.#remainingBytes === 0) this.#place = 'CR'
        i = to
      } else if (!this.#step(bytes[i++]!)) return undefined
    }
    return { used: i, content: joined(bytes, contentRanges) }
  }

  /** Parses one byte outside of chunk data. Returns false if the byte is not allowed at this position. */
  #step(byte: number): boolean {
    switch (this.#place) {
      case 'digit':
        return this.#digit(byte)
      case 'more digits':
        if (byte === cr) return this.#go('end of size')
        return byte === semicolon ? this.#extend(byte) : this.#digit(byte)
      case 'extension':
        return byte === cr ? this.#endLine(extensions, 'end of size') : isText(byte) && this.#extend(byte)
      case 'end of size':
        this.#digits = 0
        return byte === lf && this.#go(this.#remainingBytes === 0 ? 'trailer' : 'data')
      case 'CR':
        return byte === cr && this.#go('LF')
      case 'LF':
        return byte === lf && this.#go('digit')
      default:
        return this.#stepInTrailer(byte)
    }
  }

  #stepInTrailer(byte: number): boolean {
    if (++this.#trailerBytes > maxHeaderBytes) return false
    switch (this.#place) {
      case 'trailer':
        return byte === cr ? this.#go('last LF') : this.#inTrailer(byte)
      case 'in trailer':
        return byte === cr ? this.#endLine(header, 'end of trailer') : this.#inTrailer(byte)
      case 'end of trailer':
        return byte === lf && this.#go('trailer')
      default:
        return byte === lf && this.#go('nothing')
    }
  }

  #inTrailer(byte: number): boolean {
    this.#line.add(byte)
    return isText(byte) && this.#go('in trailer')
  }

  #extend(byte: number): boolean {
    this.#line.add(byte)
    return ++this.#extensionBytes <= maxExtensionBytes && this.#go('extension')
  }

  #endLine(linePattern: RegExp, next: Place): boolean {
    return linePattern.test(this.#line.take()) && this.#go(next)
  }

  #digit(byte: number): boolean {
    const value = digitOf(byte)
    if (value < 0 || ++this.#digits > maxDigits) return false
    this.#remainingBytes = this.#remainingBytes * 16 + value
    return this.#go('more digits')
  }

  #go(place: Place): true {
    this.#place = place
    return true
  }
}

/** Collects the bytes of a line. Appending single characters to a string would take 32 times as much memory. */
class LineBytes {
  #bytes = Buffer.alloc(0)
  #length = 0

  add(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow()
    this.#bytes[this.#length++] = byte
  }

  take(): string {
    const text = this.#bytes.toString('latin1', 0, this.#length)
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return text
  }

  #grow(): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(64, 2 * this.#length))
    this.#bytes.copy(bytes)
    this.#bytes = bytes
  }
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}

function isText(byte: number): boolean {
  return byte === tab || (byte >= 0x20 && byte !== 0x7f)
}

function joined(bytes: Buffer, contentRanges: readonly [from: number, to: number][]): Buffer {
  if (contentRanges.length === 1) return bytes.subarray(...contentRanges[0]!)
  const content = Buffer.allocUnsafe(contentRanges.reduce((size, [from, to]) => size + to - from, 0))
  let at = 0
  for (const [from, to] of contentRanges) at += bytes.copy(content, at, from, to)
  return content
}
