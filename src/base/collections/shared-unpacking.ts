/**
 * Content that is kept packed and given out unpacked. Those who need it at the same time share one copy, which goes with
 * the last of them: how many there are, and how slowly they take it, makes no difference to memory.
 */
type Unpack = (packed: Buffer) => Promise<Buffer>

/** The same function, for whom the result is shared while anybody holds it. */
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
    const known = inUse.get(packed)?.deref()
    if (known !== undefined) return known
    const content = underWay.get(packed) ?? begin(packed)
    underWay.set(packed, content)
    return await content
  }
}
