/** Parses durations such as `1h30m`, `5m`, `1.5s`, `250ms` or `0`, for flags and queries. */
const units: { readonly [unit: string]: number } = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const form = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/

/** Parses a duration and returns it in milliseconds. Returns undefined if the string is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0
  if (text.length > 64 || !form.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g)) total += Number(amount) * units[unit!]!
  return total
}
