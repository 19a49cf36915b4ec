/**
 * Shares unpacked content. Concurrent readers of the same packed content share one unpacked copy, which is freed when
 * the last reader finishes. Memory use does not depend on the number of readers or on their speed.
 */
type Unpack = (packed: Buffer) => Promise<Buffer>

/** Wraps a function so that callers share its result as long as any of them uses it. */
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
