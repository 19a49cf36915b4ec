/** A condition in the status of an object, as most kinds have them. */
import type { ApiObject } from '../../../../api/model/object.ts'

export interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** The conditions of an object; none where its status has no such list. */
export function conditionsOf(object: ApiObject): readonly Condition[] {
  const { status } = object as { status?: { conditions?: readonly Condition[] } }
  return Array.isArray(status?.conditions) ? status.conditions : []
}
