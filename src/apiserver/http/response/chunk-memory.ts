/** The memory of response chunks: a separate buffer for each chunk, or two alternating buffers. */
import { BufferPool } from '../../../base/collections/buffer-pool.ts'
import { type ChunkMargins, chunkMargins } from '../../transport/server-transport.ts'

/** Returns the buffer for the next chunk. */
export type ChunkMemory = () => Buffer

const chunkBytes = 64 * 1024
const { before, after } = chunkMargins
const pool = new BufferPool(before + chunkBytes + after, 16)

/** Returns a new buffer for each chunk, because a chunk may still be in use when the next one is written. */
export function ownMemory(size: number): ChunkMemory {
  const bytes = Math.min(chunkBytes, size)
  return () => Buffer.allocUnsafeSlow(bytes)
}

/**
 * Two alternating buffers: one chunk is written while the previous chunk is sent. A buffer may be reused only after its
 * chunk has been sent. Each buffer has margins that the transport can use to frame the chunk.
 */
export class ChunkBuffers {
  readonly #buffers: Buffer[] = []
  #turns = 0

  readonly next: ChunkMemory = () => {
    const index = this.#turns++ % 2
    this.#buffers[index] ??= pool.take()
    return this.#buffers[index].subarray(before, -after)
  }

  /**
   * Returns the free bytes before and after a chunk that starts in one of the two buffers. Returns undefined for any
   * other chunk.
   */
  marginsOf({ buffer, byteOffset }: Buffer): ChunkMargins | undefined {
    const isOwn = this.#buffers.some((own) => own.buffer === buffer && own.byteOffset + before === byteOffset)
    return isOwn ? chunkMargins : undefined
  }

  /** Frees the buffers. Must be called when all chunks have been sent. */
  release(): void {
    for (const buffer of this.#buffers.splice(0)) pool.give(buffer)
  }
}
