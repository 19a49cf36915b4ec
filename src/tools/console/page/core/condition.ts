/** Reads the conditions in the status of an object. */
import type { ApiObject } from '../../../../api/model/object.ts'

export interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** Returns the conditions of an object. The list is empty if the status has no conditions. */
export function conditionsOf(object: ApiObject): readonly Condition[] {
  const { status } = object as { status?: { conditions?: readonly Condition[] } }
  return Array.isArray(status?.conditions) ? status.conditions : []
}
