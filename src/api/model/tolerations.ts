/** Decides whether a Pod tolerates a taint. Used by the scheduler and by all controllers that place or evict Pods. */

/** A taint of a node. Absent fields count as empty. */
interface Taint {
  readonly key?: string
  readonly value?: string
  readonly effect?: string
}

/** A toleration of a Pod. Without a key it matches every taint, without an effect every effect. */
interface Toleration extends Taint {
  readonly operator?: string
}

/** Whether the toleration matches this taint. */
export function tolerates(toleration: Toleration, { key = '', value = '', effect = '' }: Taint): boolean {
  if ((toleration.effect ?? '') !== '' && toleration.effect !== effect) return false
  if ((toleration.key ?? '') !== '' && toleration.key !== key) return false
  return toleration.operator === 'Exists' || (toleration.value ?? '') === value
}

/** Whether any of the tolerations matches this taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((each) => tolerates(each, taint))
}
