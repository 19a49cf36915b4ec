import { test } from 'node:test'

/** The long form of the tests (`npm run test:long`) covers every case that the short form samples. */
export const long = process.env.ORCH_LONG === '1'

/** A test that runs only in the long form. */
export const longTest: typeof test = long ? test : (((..._: unknown[]) => {}) as unknown as typeof test)

/** Returns all cases in the long form, and this many evenly spaced ones in the short form. */
export function someOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (long || cases.length <= count) return cases
  return Array.from({ length: count }, (_, i) => cases[Math.floor((i * cases.length) / count)]!)
}
