/** Parses ages that the server prints in tables, so that the page can update them. */

const unitMs: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
}

/**
 * Converts an age such as `95s`, `4m20s` or `2d3h` to milliseconds. Returns undefined for other texts, such as
 * `<unknown>`.
 */
export function printedAgeMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}[smhdy]){1,2}$/.test(text)) return undefined
  return [...text.matchAll(/(\d{1,9})([smhdy])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[unit!]!,
    0,
  )
}
