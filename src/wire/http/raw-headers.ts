/** Headers exactly as received: alternating names and values, neither merged nor dropped. */

/** The values of a header, by its lower-case name, in order. */
export function valuesOf(rawHeaders: readonly string[], wanted: string): string[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === wanted ? [rawHeaders[i + 1]!] : []))
}
