/**
 * Represents arbitrary bytes in a string: each non-ASCII byte becomes a lone surrogate, which does not occur in valid
 * text. Templates can therefore decode Secret values, and programs that read the output still receive the original
 * bytes.
 */
import { isUtf8 } from 'node:buffer'

const firstUnit = 0xdc00

export function textOfBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString()
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : firstUnit + byte)).join('')
}

/** Converts a string in this representation back to bytes. */
export function bytesToWrite(text: string): string | Uint8Array {
  if (text.isWellFormed()) return text
  const parts = text.split(/((?<![\ud800-\udbff])[\udc80-\udcff])/)
  return Buffer.concat(
    parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) - firstUnit))),
  )
}
