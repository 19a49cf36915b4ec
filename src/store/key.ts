/** What a key may be, and how keys order: by their UTF-8 bytes, as every backend orders them. */
import { type Key, maxKeyBytes, StoreError } from './store.ts'

/** Keys come from checked names; one that does not fit is a fault of ours, caught before it can reach a backend. */
export function assertKey(key: Key): void {
  if (key.length === 0 || key.includes('\0') || Buffer.byteLength(key) > maxKeyBytes) {
    throw new StoreError(`not a key: ${JSON.stringify(key.slice(0, 100))}`)
  }
}

/** Order by UTF-8 bytes. UTF-16 order differs from it only where a surrogate meets U+E000 to U+FFFF. */
export function compareKeys(a: Key, b: Key): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : isSurrogate(y) ? -1 : x - y
  }
  return a.length - b.length
}

// A surrogate stands for a code point above U+FFFF, so it orders after every other unit.
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}
