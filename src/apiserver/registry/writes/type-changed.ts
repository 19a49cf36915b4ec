/**
 * Handles changes to types, such as custom resources, that a stored object defines. A write depends on the definition
 * that was used to decode, prune and validate its object. If the definition changes in the meantime, dispatch repeats
 * the request with the new type.
 */
import { ApiError } from '../../../api/model/api-error.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'

/**
 * The error for a request if the definition of its type changed while the request was being handled. The request may be
 * repeated.
 */
export class TypeChanged extends ApiError {
  constructor() {
    const message =
      'the CustomResourceDefinition of this type has changed, and this server does not serve the change yet; try again'
    super(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 })
  }
}

/** Returns whether the definition of the type has changed, according to the latest state of the store. */
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
