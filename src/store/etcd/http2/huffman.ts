/**
 * The code that HTTP/2 writes the texts of headers in (RFC 7541, appendix B). It is canonical: codes of one length follow
 * each other in the order of their symbols, so that how long the code of each symbol is says all of it.
 */
import { MalformedHttp2 } from './frames.ts'

/** The length of the code of each byte and of the end, in base 36. */
const lengths = [
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca',
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds',
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn',
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq',
  'u',
].join('')

const end = 256
const longest = 30

/** The codes of one length: the first of them, and the symbols that they stand for, in order. */
interface Codes {
  readonly first: number
  readonly symbols: readonly number[]
}

const codesByLength = codes()

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

/** The bytes that stand in this code. What is left of the last byte is filled with the beginning of the end. */
export function decodeHuffman(coded: Uint8Array): Buffer {
  // The shortest code has five bits.
  const decoded = Buffer.allocUnsafe(Math.floor((coded.length * 8) / 5))
  let count = 0
  let code = 0
  let length = 0
  for (let bit = 0; bit < coded.length * 8; bit++) {
    code = code * 2 + ((coded[bit >> 3]! >> (7 - (bit & 7))) & 1)
    length++
    if (length > longest) throw new MalformedHttp2('a header in a code that does not exist')
    const { first, symbols } = codesByLength[length]!
    const symbol = symbols[code - first]
    if (symbol === undefined) continue
    if (symbol === end) throw new MalformedHttp2('a header with the code of the end in it')
    decoded[count++] = symbol
    code = 0
    length = 0
  }
  if (length > 7 || code !== 2 ** length - 1) throw new MalformedHttp2('a header whose code breaks off')
  return decoded.subarray(0, count)
}
