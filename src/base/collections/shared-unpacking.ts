/**
 * Shares unpacked content among concurrent readers. All readers of the same packed content use one unpacked copy, which
 * is freed when the last reader finishes. Memory use therefore depends neither on the number of readers nor on their
 * speed.
 */
type Unpack = (packed: Buffer) => Promise<Buffer>

/** Wraps an unpack function. Callers share one result as long as any of them still uses it. */
export function sharedUnpacking(unpack: Unpack): Unpack {
  const underWay = new Map<Buffer, Promise<Buffer>>()
  const inUse = new WeakMap<Buffer, WeakRef<Buffer>>()
  const begin = async (packed: Buffer) => {
    try {
      const content = await unpack(packed)
      inUse.set(packed, new WeakRef(content))
      return content
    } finally {
      underWay.delete(packed)
    }
  }
  return async (packed) => {
    const cachedValue = inUse.get(packed)?.deref()
    if (cachedValue !== undefined) return cachedValue
    const content = underWay.get(packed) ?? begin(packed)
    underWay.set(packed, content)
    return await content
  }
}
