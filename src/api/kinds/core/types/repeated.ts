/** Duplicate detection in linear time, because a request may contain very long lists. */

/** Returns the indexes of names that also occur earlier in the list. Undefined entries are ignored. */
export function repeatedAt(names: readonly (string | undefined)[]): Set<number> {
  const repeated = new Set<number>()
  // Fast path: fewer than two names cannot repeat.
  if (names.length < 2) return repeated
  const seenKeys = new Set<string>()
  for (let i = 0; i < names.length; i++) {
    const name = names[i]
    if (name === undefined) continue
    if (seenKeys.has(name)) repeated.add(i)
    seenKeys.add(name)
  }
  return repeated
}
