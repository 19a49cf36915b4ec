/** Headers exactly as received: alternating names and values, neither merged nor dropped. */

/** Returns the values of a header, by its lower-case name, in order. */
export function valuesOf(rawHeaders: readonly string[], headerName: string): string[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === headerName ? [rawHeaders[i + 1]!] : []))
}
