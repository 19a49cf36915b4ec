/**
 * Order of strings by their UTF-8 bytes: how every store backend orders keys and how maps are written out.
 * UTF-16 order, which `<` uses, differs from it only where a surrogate meets U+E000 to U+FFFF.
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

// A surrogate is half of a code point above U+FFFF, so it orders after every other unit.
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}
