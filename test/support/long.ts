import { test } from 'node:test'

/**
 * Distinguishes the long variant of the tests (`npm run test:long`), which covers every case, from the short variant,
 * which covers samples.
 */
export const long = process.env.ORCH_LONG === '1'

/** Defines a test that runs only in the long variant. */
export const longTest: typeof test = long ? test : (((..._: unknown[]) => {}) as unknown as typeof test)

/** Returns all cases in the long variant, and the given number of evenly spaced cases in the short variant. */
export function someOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (long || cases.length <= count) return cases
  return Array.from({ length: count }, (_, i) => cases[Math.floor((i * cases.length) / count)]!)
}
