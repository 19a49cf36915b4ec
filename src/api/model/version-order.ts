/**
 * Sorts versions by stability: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`. All other names follow in alphabetical
 * order.
 */

const form = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/

/** Compares two versions. The more stable version sorts first. */
export function compareVersions(a: string, b: string): number {
  const one = rankOf(a)
  const other = rankOf(b)
  if (one === undefined || other === undefined) return one === other ? compareText(a, b) : one === undefined ? 1 : -1
  for (const [i, value] of one.entries()) if (value !== other[i]) return other[i]! - value
  return 0
}

const stages = { alpha: 0, beta: 1 }

/** Returns the rank of a version: its stage, major version, and number within the stage. */
function rankOf(version: string): readonly number[] | undefined {
  const match = form.exec(version)
  if (match === null) return undefined
  const stage = match[2] as keyof typeof stages | undefined
  return [stage === undefined ? 2 : stages[stage], Number(match[1]), Number(match[3] ?? 0)]
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
