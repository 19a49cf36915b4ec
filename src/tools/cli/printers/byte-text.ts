/**
 * Bytes that are no text, in a text: each that is not ASCII stands as half of a pair of code units that no text holds
 * alone. So a template can decode what a Secret holds, and a pipe gets the bytes that were stored.
 */
import { isUtf8 } from 'node:buffer'

const firstUnit = 0xdc00

export function textOfBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString()
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : firstUnit + byte)).join('')
}

/** What is written of such a text. */
export function bytesToWrite(text: string): string | Uint8Array {
  if (text.isWellFormed()) return text
  const parts = text.split(/((?<![\ud800-\udbff])[\udc80-\udcff])/)
  return Buffer.concat(
    parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) - firstUnit))),
  )
}
