/** Functions for immutable lists of workload conditions, with one entry per type. */
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
 * Returns the conditions after adding or replacing one condition. If the status and reason are unchanged, keeps the
 * existing condition. If only the status is unchanged, keeps the existing transition time.
 */
export function withCondition<C extends Condition>(conditions: readonly C[] = [], next: C): C[] {
  const previousCondition = findCondition(conditions, next.type ?? '')
  if (
    previousCondition !== undefined &&
    previousCondition.status === next.status &&
    previousCondition.reason === next.reason
  )
    return [...conditions]
  const { lastTransitionTime } = previousCondition ?? {}
  const sameStatus = previousCondition?.status === next.status && lastTransitionTime !== undefined
  const others = withoutCondition(conditions, next.type ?? '')
  return [...others, sameStatus ? { ...next, lastTransitionTime } : next]
}

export function withoutCondition<C extends Condition>(conditions: readonly C[] = [], type: string): C[] {
  return conditions.filter((condition) => condition.type !== type)
}
