/**
 * For types defined by a stored object, such as custom resources: a write depends on the definition with which it was
 * decoded, pruned and validated. If the definition changes meanwhile, dispatch repeats the request with the new type.
 */
import { ApiError } from '../../../api/model/api-error.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'

/** The type was redefined during the request. The request may be repeated. */
export class TypeChanged extends ApiError {
  constructor() {
    const message =
      'the CustomResourceDefinition of this type has changed, and this server does not serve the change yet; try again'
    super(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 })
  }
}

/** Whether the definition of this type has changed, according to the latest state. */
export async function hasChanged(resource: Resource): Promise<boolean> {
  if (resource.definitionGuard === undefined) return false
  await waitForCaches(resource)
  try {
    await resource.definitionGuard('change')
    return false
  } catch (error) {
    if (error instanceof TypeChanged) return true
    throw error
  }
}
