/**
 * Types that are defined by an object of the store, as custom resources are: a write of their objects rests on the
 * definition that it was read, pruned and judged by. Where that has changed meanwhile the request begins anew, with the
 * type as it is now; it is for whoever found the type to do so.
 */
import { ApiError } from '../../../api/model/api-error.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'

/** The type was redefined during the request, which may be repeated. */
export class TypeChanged extends ApiError {
  constructor() {
    const message = 'the definition of this type is being changed, and this server does not serve it yet; try again'
    super(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 })
  }
}

/** Whether the definition of this type has become another, by the most recent state. */
export async function hasChanged(resource: Resource): Promise<boolean> {
  if (resource.standing === undefined) return false
  await waitForCaches(resource)
  try {
    await resource.standing('change')
    return false
  } catch (error) {
    if (error instanceof TypeChanged) return true
    throw error
  }
}
