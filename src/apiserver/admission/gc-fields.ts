/**
 * Recognizes changes made by garbage collection. Any user who may write an object may make such changes, regardless of
 * the rest of the object.
 */
import { type Json, sameJson } from '../../api/json/json.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'

/** Whether only finalizers and owner references change. */
export function changesOnlyGcFields(next: ApiObject, previous: ApiObject): boolean {
  const rest = ({ metadata, ...object }: ApiObject): Json => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, resourceVersion: _r, ...otherMetadata } = metadata
    return asJson({ ...object, metadata: otherMetadata })
  }
  return sameJson(rest(next), rest(previous))
}
