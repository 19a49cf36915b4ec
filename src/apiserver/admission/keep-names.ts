/**
 * Protects metadata from webhooks and policies: preserves the namespace and the generated name, and restores
 * managedFields that were made invalid.
 */
import { sameJson } from '../../api/json/json.ts'
import { readManagers } from '../../api/merge/managed-fields.ts'
import { ApiError } from '../../api/model/api-error.ts'
import { type ApiObject, copyWithout } from '../../api/model/object.ts'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from './admission.ts'

export class OtherNamespace extends ApiError {
  constructor() {
    super(400, 'BadRequest', 'the namespace of the provided object does not match the namespace sent on the request')
  }
}

/**
 * Returns the object after a webhook or policy changed it. Restores a generated name that the change removed, and
 * managedFields that the change made invalid. Throws OtherNamespace if the change moved the object to another
 * namespace.
 */
export function keepNames(request: AdmissionRequest, before: ApiObject, after: ApiObject): ApiObject {
  if ((after.metadata.namespace ?? '') !== (before.metadata.namespace ?? '')) throw new OtherNamespace()
  const metadata = before.metadata.resourceVersion
    ? { ...after.metadata }
    : copyWithout(after.metadata, 'resourceVersion')
  if (request.drawnFrom !== undefined && !metadata.name && before.metadata.name !== undefined)
    metadata.name = before.metadata.name
  if (!sameManagers(before, after) && runToCompletion(readManagers(metadata.managedFields)) === undefined) {
    request.warn(
      '.metadata.managedFields was invalid after admission; the previous value is kept. Mutating admission webhooks should not change managedFields',
    )
    if (before.metadata.managedFields === undefined) delete metadata.managedFields
    else metadata.managedFields = before.metadata.managedFields
  }
  return { ...after, metadata }
}

function sameManagers(a: ApiObject, b: ApiObject): boolean {
  return sameJson(a.metadata.managedFields, b.metadata.managedFields)
}
