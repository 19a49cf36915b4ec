/** HTTP headers exactly as received: alternating names and values, neither merged nor dropped. */

/** Returns all values of a header in order. The name must be in lower case. */
export function valuesOf(rawHeaders: readonly string[], headerName: string): string[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === headerName ? [rawHeaders[i + 1]!] : []))
}
