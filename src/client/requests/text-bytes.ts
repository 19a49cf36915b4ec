/**
 * Encodes strings into shared blocks of memory. A separate block for each of thousands of small requests would trigger
 * garbage collections, because V8 counts such blocks as external memory.
 */

const encoder = new TextEncoder()
const blockBytes = 64 * 1024
/** Maximum number of UTF-8 bytes that a UTF-16 code unit needs. */
const bytesPerUnit = 3

let block = new Uint8Array(0)
let used = 0

/** Encodes UTF-8. Invalid characters become U+FFFD. The bytes belong to the caller and are not overwritten. */
export function bytesOfText(text: string): Uint8Array {
  const most = bytesPerUnit * text.length
  if (most > blockBytes / 4) return encoder.encode(text)
  if (used + most > block.length) {
    block = new Uint8Array(blockBytes)
    used = 0
  }
  const { written } = encoder.encodeInto(text, block.subarray(used))
  const bytes = block.subarray(used, used + written)
  used += written
  return bytes
}
