/**
 * Encodes DER to the extent that certificates need it: elements with one-byte tags and minimal lengths. This is the
 * counterpart of `der.ts`. Callers interpret the elements.
 */
import { tags } from './der.ts'

export function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return element(tags.sequence, ...parts)
}

/** Encodes an object identifier, given as its DER content in hexadecimal. */
export function identifier(id: string): Buffer {
  return element(tags.oid, Buffer.from(id, 'hex'))
}

export function text(value: string): Buffer {
  return element(tags.utf8String, Buffer.from(value))
}

/** Encodes a bit string of whole bytes. */
export function bitString(bytes: Buffer): Buffer {
  return element(tags.bitString, Buffer.from([0]), bytes)
}

/**
 * Encodes a bit string with the given bits set. Bit 0 is the first bit, and the string ends with the last set bit, so
 * `[0, 5]` is encoded as 100001.
 */
export function namedBits(bits: readonly number[]): Buffer {
  const last = Math.max(...bits)
  const bytes = Buffer.alloc((last >> 3) + 1)
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7)
  return element(tags.bitString, Buffer.from([7 - (last & 7)]), bytes)
}

/**
 * Encodes a time in whole seconds. RFC 5280, 4.1.2.5, requires two-digit years through 2049 and four-digit years
 * afterwards.
 */
export function time(milliseconds: number): Buffer {
  const digits = `${new Date(milliseconds).toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`
  const short = milliseconds < Date.UTC(2050, 0)
  return element(short ? tags.utcTime : tags.generalizedTime, Buffer.from(short ? digits.slice(2) : digits))
}

// Encodes a length. A length below 128 is one byte. Otherwise the first byte is 0x80 plus the number of bytes that
// follow.
function lengthOf(size: number): number[] {
  if (size < 0x80) return [size]
  const bytes: number[] = []
  for (let rest = size; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return [0x80 + bytes.length, ...bytes]
}
