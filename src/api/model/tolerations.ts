/** Whether a Pod may be on a node in spite of a taint: one rule for the scheduler and for the loops that place or evict Pods. */

/** A taint of a node; what is absent is empty. */
interface Taint {
  readonly key?: string
  readonly value?: string
  readonly effect?: string
}

/** A toleration of a Pod. Without a key it is about every taint, without an effect about every effect. */
interface Toleration extends Taint {
  readonly operator?: string
}

/** Whether the toleration is about this taint. */
export function tolerates(toleration: Toleration, { key = '', value = '', effect = '' }: Taint): boolean {
  if ((toleration.effect ?? '') !== '' && toleration.effect !== effect) return false
  if ((toleration.key ?? '') !== '' && toleration.key !== key) return false
  return toleration.operator === 'Exists' || (toleration.value ?? '') === value
}

/** Whether one of the tolerations is about this taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((each) => tolerates(each, taint))
}
