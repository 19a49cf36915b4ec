/** Elements that repeat one before them, in time that grows with the list alone: a request may hold very many. */

/** The places of the names that occurred before; undefined is no name. */
export function repeatedAt(names: readonly (string | undefined)[]): Set<number> {
  const seen = new Set<string>()
  const repeated = new Set<number>()
  for (const [i, name] of names.entries()) {
    if (name === undefined) continue
    if (seen.has(name)) repeated.add(i)
    seen.add(name)
  }
  return repeated
}
