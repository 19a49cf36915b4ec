/**
 * Shares unpacked content. Concurrent readers of packed content share one unpacked copy, which is freed with the last
 * of them. Memory use does not depend on their number or speed.
 */
type Unpack = (packed: Buffer) => Promise<Buffer>

/** Returns the same function, whose result is shared while any caller holds it. */
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
