/**
 * The Huffman code of HPACK (RFC 7541, appendix B). The code is canonical: codes of equal length are consecutive
 * numbers in the order of their symbols. The lengths therefore determine all codes.
 */
import { errorCodes, MalformedHttp2 } from './frames.ts'

/** The code length of each byte value and of the end-of-string symbol, in base 36. */
const lengths = [
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca',
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds',
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn',
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq',
  'u',
].join('')

const end = 256
const longest = 30
/** Maximum code length of common characters, in bits. */
const usual = 8

/** All codes of the same length. They are consecutive numbers, starting with `first`. */
interface Codes {
  readonly first: number
  readonly symbols: readonly number[]
}

/**
 * A decoded symbol and its code length are returned as one number. This constant is the number of low bits that contain
 * the symbol.
 */
const symbolBits = 9
const symbolMask = 2 ** symbolBits - 1

const codesByLength = codes()
const usualCodes = shortCodes()

function codes(): Codes[] {
  const symbolsByLength: number[][] = Array.from({ length: longest + 1 }, () => [])
  for (let symbol = 0; symbol <= end; symbol++) symbolsByLength[Number.parseInt(lengths[symbol]!, 36)]!.push(symbol)
  let next = 0
  return symbolsByLength.map((symbols) => {
    const first = next
    next = (first + symbols.length) * 2
    return { first, symbols }
  })
}

/**
 * Returns a table for decoding eight bits at once. An entry is 0 if the code that starts with these bits is longer than
 * eight bits.
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

/**
 * Decodes a Huffman-coded string. The last byte of the string is padded with the first bits of the end-of-string code.
 */
export function decodeHuffman(coded: Uint8Array): Buffer {
  // The shortest Huffman code has five bits, which limits the length of the result.
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

/** Returns the eight bits that start at the given bit position. Past the end of the data, the bits are ones. */
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
    // Padding looks like the start of the end-of-string code, because both consist of ones.
    if (symbol === end && at + length <= coded.length * 8) throw broken('a Huffman-coded header contains EOS')
    return (length << symbolBits) | symbol
  }
  throw broken('a header has an invalid Huffman code')
}

/** Whether the remaining bits are proper padding: fewer than eight, and all ones. */
function isFilled(coded: Uint8Array, at: number): boolean {
  const paddingBits = coded.length * 8 - at
  return paddingBits < 8 && (paddingBits === 0 || (coded.at(-1)! & (2 ** paddingBits - 1)) === 2 ** paddingBits - 1)
}

function broken(what: string): MalformedHttp2 {
  return new MalformedHttp2(what, errorCodes.compression)
}
