/**
 * The Huffman code of HPACK (RFC 7541, appendix B). It is a canonical code: codes of the same length are consecutive,
 * in the order of their symbols. The lengths therefore define all codes.
 */
import { errorCodes, MalformedHttp2 } from './frames.ts'

/** The code lengths of all byte values and of the end-of-string symbol, in base 36. */
const lengths = [
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca',
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds',
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn',
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq',
  'u',
].join('')

const end = 256
const longest = 30
/** Maximum code length of common characters. */
const usual = 8

/** The codes of one length: the first code, and the symbols in order. */
interface Codes {
  readonly first: number
  readonly symbols: readonly number[]
}

/** Number of bits for the symbol in a number that contains a symbol and its code length. */
const symbolBits = 9
const symbolMask = 2 ** symbolBits - 1

const codesByLength = codes()
const usualCodes = shortCodes()

function codes(): Codes[] {
  const all: Codes[] = []
  let next = 0
  for (let length = 0; length <= longest; length++) {
    const symbols = Array.from({ length: end + 1 }, (_, symbol) => symbol).filter(
      (symbol) => Number.parseInt(lengths[symbol]!, 36) === length,
    )
    all.push({ first: next, symbols })
    next = (next + symbols.length) * 2
  }
  return all
}

/**
 * Returns a table that maps the next eight bits to the symbol whose code they start with, or to 0 if the code is
 * longer.
 */
function shortCodes(): Uint16Array {
  const table = new Uint16Array(2 ** usual)
  for (let length = 1; length <= usual; length++) {
    const { first, symbols } = codesByLength[length]!
    const same = 2 ** (usual - length)
    for (const [i, symbol] of symbols.entries())
      table.fill((length << symbolBits) | symbol, (first + i) * same, (first + i + 1) * same)
  }
  return table
}

/** Decodes a string. Its last byte is padded with the first bits of the end-of-string code. */
export function decodeHuffman(coded: Uint8Array): Buffer {
  // The shortest code has five bits, which limits the length of the result.
  const decoded = Buffer.allocUnsafe(Math.floor((coded.length * 8) / 5))
  const bits = coded.length * 8
  let count = 0
  let at = 0
  while (at < bits) {
    const matchedCode = usualCodes[eightBits(coded, at)]! || longCode(coded, at)
    const length = matchedCode >> symbolBits
    if (at + length > bits) break
    decoded[count++] = matchedCode & symbolMask
    at += length
  }
  if (!isFilled(coded, at)) throw broken('a Huffman-coded header is truncated')
  return decoded.subarray(0, count)
}

/** Returns the eight bits at this position. Pads them with ones at the end. */
function eightBits(coded: Uint8Array, at: number): number {
  const index = at >> 3
  const two = (coded[index]! << 8) | (coded[index + 1] ?? 255)
  return (two >> (8 - (at & 7))) & 255
}

function longCode(coded: Uint8Array, at: number): number {
  let code = eightBits(coded, at)
  for (let length = usual + 1; length <= longest; length++) {
    const bit = at + length - 1
    code = code * 2 + (((coded[bit >> 3] ?? 255) >> (7 - (bit & 7))) & 1)
    const { first, symbols } = codesByLength[length]!
    const symbol = symbols[code - first]
    if (symbol === undefined) continue
    // The padding consists of ones, like the end-of-string code.
    if (symbol === end && at + length <= coded.length * 8) throw broken('a Huffman-coded header contains EOS')
    return (length << symbolBits) | symbol
  }
  throw broken('a header has an invalid Huffman code')
}

/** Whether the remaining bits are valid padding: less than a byte, and only ones. */
function isFilled(coded: Uint8Array, at: number): boolean {
  const paddingBits = coded.length * 8 - at
  return paddingBits < 8 && (paddingBits === 0 || (coded.at(-1)! & (2 ** paddingBits - 1)) === 2 ** paddingBits - 1)
}

function broken(what: string): MalformedHttp2 {
  return new MalformedHttp2(what, errorCodes.compression)
}
