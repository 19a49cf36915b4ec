/**
 * Writes DER, just enough to make a certificate: elements of one-byte tags with the shortest lengths, the counterpart of
 * `der.ts`. What the elements mean is left to the callers.
 */
import { tags } from './der.ts'

export function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return element(tags.sequence, ...parts)
}

/** An object identifier, by its DER content in hexadecimal. */
export function identifier(id: string): Buffer {
  return element(tags.oid, Buffer.from(id, 'hex'))
}

export function text(value: string): Buffer {
  return element(tags.utf8String, Buffer.from(value))
}

/** A string of whole bytes. */
export function bitString(bytes: Buffer): Buffer {
  return element(tags.bitString, Buffer.from([0]), bytes)
}

/** A string that has these bits, of which the first is number 0, and ends with the last of them: `[0, 5]` is 100001. */
export function namedBits(bits: readonly number[]): Buffer {
  const last = Math.max(...bits)
  const bytes = Buffer.alloc((last >> 3) + 1)
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7)
  return element(tags.bitString, Buffer.from([7 - (last & 7)]), bytes)
}

/** A moment in whole seconds. RFC 5280, 4.1.2.5: with two digits of the year until 2049, with four from then on. */
export function time(milliseconds: number): Buffer {
  const digits = `${new Date(milliseconds).toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`
  const short = milliseconds < Date.UTC(2050, 0)
  return element(short ? tags.utcTime : tags.generalizedTime, Buffer.from(short ? digits.slice(2) : digits))
}

// Below 128 it is one byte; else 0x80 + the count of the bytes that follow.
function lengthOf(size: number): number[] {
  if (size < 0x80) return [size]
  const bytes: number[] = []
  for (let rest = size; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return [0x80 + bytes.length, ...bytes]
}
