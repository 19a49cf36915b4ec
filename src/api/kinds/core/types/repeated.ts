/** Elements that repeat one before them, in time that grows with the list alone: a request may hold very many. */

/** The places of the names that occurred before; undefined is no name. */
export function repeatedAt(names: readonly (string | undefined)[]): Set<number> {
  const repeated = new Set<number>()
  // One has none before it.
  if (names.length < 2) return repeated
  const seen = new Set<string>()
  for (let i = 0; i < names.length; i++) {
    const name = names[i]
    if (name === undefined) continue
    if (seen.has(name)) repeated.add(i)
    seen.add(name)
  }
  return repeated
}
