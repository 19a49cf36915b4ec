/** Changes that garbage collection needs: whoever may write an object at all may make them, whatever else the object holds. */
import { type Json, sameJson } from '../model/json.ts'
import { type ApiObject, asJson } from '../model/object.ts'

/** Whether finalizers and owners are all that changes. */
export function changesOnlyGcFields(next: ApiObject, previous: ApiObject): boolean {
  const rest = ({ metadata, ...object }: ApiObject): Json => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, resourceVersion: _r, ...kept } = metadata
    return asJson({ ...object, metadata: kept })
  }
  return sameJson(rest(next), rest(previous))
}
