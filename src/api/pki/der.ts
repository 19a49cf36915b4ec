/**
 * Parses DER to the extent that certificates need it: definite minimal lengths and one-byte tags. The parser never
 * reads beyond the given bytes, rejects more than `maxDerBytes`, and throws `MalformedDer` if an element does not fill
 * its space exactly. Callers interpret the elements.
 */
import { MalformedInput } from './malformed-input.ts'

export const maxDerBytes = 128 * 1024

/** DER tags by the name of their type. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** A parsed DER element. */
export interface Element<Bytes extends Uint8Array = Buffer> {
  readonly tag: number
  readonly content: Bytes
  /** The whole element, including its tag and length. */
  readonly whole: Bytes
}

/** Thrown if bytes are not valid DER, or do not contain the expected element. */
export class MalformedDer extends MalformedInput {
  override readonly name = 'MalformedDer'
}

/** Returns the only element in `bytes`. No bytes may follow the element. */
export function readWhole<Bytes extends Uint8Array>(bytes: Bytes, tag: number): Element<Bytes> {
  const [element, ...rest] = readSeveral(bytes)
  if (rest.length > 0) throw new MalformedDer('unexpected bytes after the end')
  return expectTag(element, tag)
}

/** Parses a sequence of DER elements. */
export function readSeveral<Bytes extends Uint8Array>(bytes: Bytes): Element<Bytes>[] {
  if (bytes.length > maxDerBytes)
    throw new MalformedDer(`${bytes.length} bytes are more than the ${maxDerBytes} allowed`)
  return readAll(bytes)
}

/** Returns the elements inside a constructed element. They must fill the element exactly. */
export function childrenOf<Bytes extends Uint8Array>(parent: Element<Bytes>): Element<Bytes>[] {
  return readAll(parent.content)
}

/** Returns the element. Throws MalformedDer unless it has the given tag. */
export function expectTag<Bytes extends Uint8Array>(element: Element<Bytes> | undefined, tag: number): Element<Bytes> {
  if (element?.tag === tag) return element
  throw new MalformedDer(`expected tag ${hex(tag)}, found ${element === undefined ? 'the end' : hex(element.tag)}`)
}

function readAll<Bytes extends Uint8Array>(bytes: Bytes): Element<Bytes>[] {
  const elements: Element<Bytes>[] = []
  // The cast is safe, because `subarray` of a Buffer returns a Buffer.
  const part = (start: number, end: number) => bytes.subarray(start, end) as Bytes
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] as number
    if ((tag & 0x1f) === 0x1f) throw new MalformedDer('multi-byte tags are not supported')
    const start = at + 1 + lengthBytes(bytes, at + 1)
    const end = start + readLength(bytes, at + 1)
    if (end > bytes.length) throw new MalformedDer('an element is longer than its container')
    elements.push({ tag, content: part(start, end), whole: part(at, end) })
    at = end
  }
  return elements
}

// Returns the number of bytes that encode a length. A length below 128 is one byte. For a greater length, the first
// byte is 0x80 plus the number of bytes that follow. Lengths of up to three bytes are sufficient.
function lengthBytes(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === undefined) throw new MalformedDer('a length is truncated')
  if (first < 0x80) return 1
  const count = first & 0x7f
  if (count === 0 || count > 3 || at + count >= bytes.length) throw new MalformedDer('a length is not valid DER')
  return 1 + count
}

function readLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0x80) return first
  const count = first & 0x7f
  const length = bytes.subarray(at + 1, at + 1 + count).reduce((sum, byte) => 256 * sum + byte, 0)
  if (length < 0x80 || length < 2 ** (8 * (count - 1)))
    throw new MalformedDer('a length does not have the shortest encoding')
  return length
}

function hex(tag: number): string {
  return `0x${tag.toString(16).padStart(2, '0')}`
}
