/**
 * Compares strings in the order of their UTF-8 bytes, which is the key order of all storage backends and of serialized
 * maps. The operator `<` compares UTF-16 code units. The two orders differ only between surrogates and the characters
 * U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1
  }
  return a.length - b.length
}

const few = 32

/**
 * Sorts keys in place in UTF-8 order. Most lists are short or already sorted. For such lists, the built-in `sort` would
 * be slower and allocate memory.
 */
export function sortUtf8(keys: string[]): string[] {
  let sorted = 1
  while (sorted < keys.length && compareUtf8(keys[sorted - 1]!, keys[sorted]!) <= 0) sorted++
  // Keys without surrogates are compared natively, which gives the same order and is much faster.
  if (sorted < keys.length && keys.length > few) return keys.some(isHigh) ? keys.sort(compareUtf8) : keys.sort()
  for (; sorted < keys.length; sorted++) insertLast(keys, sorted)
  return keys
}

/** Moves the key at the index to its sorted position among the preceding keys. */
function insertLast(keys: string[], index: number): void {
  const key = keys[index]!
  let place = index
  for (; place > 0 && compareUtf8(keys[place - 1]!, key) > 0; place--) keys[place] = keys[place - 1]!
  keys[place] = key
}

function isHigh(key: string): boolean {
  return /[\ud800-\uffff]/.test(key)
}

// Whether a UTF-16 code unit is a surrogate. A surrogate is half of a code point above U+FFFF, so it sorts after all
// other code units.
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}
