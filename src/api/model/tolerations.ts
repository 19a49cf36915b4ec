/**
 * Decides whether a Pod tolerates a taint. The scheduler and all controllers that assign or evict Pods use these
 * functions.
 */

/** A taint of a node. Absent fields count as empty. */
interface Taint {
  readonly key?: string
  readonly value?: string
  readonly effect?: string
}

/**
 * A toleration of a Pod. A toleration without a key matches every taint, and one without an effect matches every
 * effect.
 */
interface Toleration extends Taint {
  readonly operator?: string
}

/** Whether a toleration tolerates a taint. */
export function tolerates(toleration: Toleration, { key = '', value = '', effect = '' }: Taint): boolean {
  if ((toleration.effect ?? '') !== '' && toleration.effect !== effect) return false
  if ((toleration.key ?? '') !== '' && toleration.key !== key) return false
  if (toleration.operator === 'Exists') return true
  return isComparison(toleration.operator) ? compares(toleration, value) : (toleration.value ?? '') === value
}

/** Whether the operator is `Lt` or `Gt`, which compare integers. */
export function isComparison(operator: string | undefined): boolean {
  return operator === 'Lt' || operator === 'Gt'
}

/**
 * Whether the taint's value is below (`Lt`) or above (`Gt`) the toleration's value. A taint whose value is not a number
 * does not match.
 */
function compares({ operator, value: limit = '' }: Toleration, value: string): boolean {
  if (!isDecimalInt64(value) || !isDecimalInt64(limit)) return false
  return operator === 'Lt' ? BigInt(value) < BigInt(limit) : BigInt(value) > BigInt(limit)
}

const decimal = /^(?:0|-?[1-9][0-9]{0,18})$/

/** Whether the string is a 64-bit integer in canonical form. */
export function isDecimalInt64(text: string): boolean {
  return decimal.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/** Whether any of the tolerations tolerates the taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((each) => tolerates(each, taint))
}
