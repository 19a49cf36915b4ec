/** Conditions of workloads as lists with one entry per type, which are replaced and not changed. */
interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly lastTransitionTime?: string
}

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/**
 * The list with this condition in it. One of the same status and reason stays as it is; one of the same status keeps the
 * time of its last transition.
 */
export function withCondition<C extends Condition>(conditions: readonly C[] = [], next: C): C[] {
  const known = findCondition(conditions, next.type ?? '')
  if (known !== undefined && known.status === next.status && known.reason === next.reason) return [...conditions]
  const { lastTransitionTime } = known ?? {}
  const sameStatus = known?.status === next.status && lastTransitionTime !== undefined
  const others = withoutCondition(conditions, next.type ?? '')
  return [...others, sameStatus ? { ...next, lastTransitionTime } : next]
}

export function withoutCondition<C extends Condition>(conditions: readonly C[] = [], type: string): C[] {
  return conditions.filter((condition) => condition.type !== type)
}
