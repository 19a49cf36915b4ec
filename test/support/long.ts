import { test } from 'node:test'

/** The long form of the tests (`npm run test:long`): what the short one tries once or a few times is tried in every way. */
export const long = process.env.ORCH_LONG === '1'

/** A test of the long form alone. */
export const longTest: typeof test = long ? test : (((..._: unknown[]) => {}) as unknown as typeof test)

/** Of many cases alike: all in the long form, in the short one so many, from the first on at even distances. */
export function someOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (long || cases.length <= count) return cases
  return Array.from({ length: count }, (_, i) => cases[Math.floor((i * cases.length) / count)]!)
}
