/** Helpers for loops that maintain conditions of cluster-scoped objects. */
import type { Json } from '../../api/json/json.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { ownWrite } from '../registry/writes/server-write.ts'
import { getCached, ignoreNotFound } from './own-objects.ts'

export interface StatusWrite {
  readonly name: string
  readonly signal: AbortSignal
  /** The field manager for the status. Defaults to the server's field manager. */
  readonly manager?: string
  /** Returns the object with its new status, or the object itself if nothing changes. */
  readonly next: (object: ApiObject) => ApiObject
}

/** Computes the status of a cluster-scoped object and writes it if it has changed. */
export async function writeStatus(resource: Resource, { name, signal, manager, next }: StatusWrite): Promise<void> {
  const storedObject = getCached(resource, { namespace: '', name })
  if (storedObject === undefined || next(storedObject) === storedObject) return
  const own = ownWrite(resource, { subresource: 'status', optionsKind: 'UpdateOptions', signal })
  const context = manager === undefined ? own : { ...own, fieldManager: manager }
  await ignoreNotFound(updateObject(context, name, (previous) => ({ object: next(previous), managed: false })))
}

interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

interface Conditional {
  readonly status?: { readonly conditions?: readonly (Partial<Condition> & { lastTransitionTime?: string })[] }
}

/**
 * Returns the object with the given condition. Returns the object itself if the status and reason are unchanged. If the
 * status changes, `now` is its transition time.
 */
export function withCondition(object: ApiObject, { type, status, reason, message }: Condition, now: string): ApiObject {
  const { conditions = [] } = (object as Conditional).status ?? {}
  const before = conditions.find((each) => each.type === type)
  const changed = before?.status !== status
  if (!changed && before.reason === reason) return object
  const lastTransitionTime = (changed ? undefined : before.lastTransitionTime) ?? now
  const others = conditions.filter((each) => each !== before)
  const all = [...others, { type, status, lastTransitionTime, reason, message }]
  return { ...object, status: { conditions: all as unknown as Json } }
}
