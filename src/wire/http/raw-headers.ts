/** Headers as they came: alternating names and values, none merged or dropped. */

/** The values of a header, whose name is given in lower case, in their order. */
export function valuesOf(rawHeaders: readonly string[], wanted: string): string[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === wanted ? [rawHeaders[i + 1]!] : []))
}
