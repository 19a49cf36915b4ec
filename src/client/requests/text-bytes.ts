/**
 * The bytes of texts, many of which share one block of memory: a block of its own for each of thousands of small requests
 * makes the engine collect garbage in the middle of them, for it counts such blocks apart from its own heap.
 */

const encoder = new TextEncoder()
const blockBytes = 64 * 1024
/** A character of a text takes three bytes at most. */
const bytesPerUnit = 3

let block = new Uint8Array(0)
let used = 0

/** UTF-8; what is no character becomes U+FFFD. The bytes are the caller's: nobody writes there again. */
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
