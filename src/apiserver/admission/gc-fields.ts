/**
 * Recognizes changes that the garbage collector makes. Any user who may write an object may make such changes, even if
 * the rest of the object is invalid.
 */
import { type Json, sameJson } from '../../api/json/json.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'

/** Whether an update changes only fields that the garbage collector writes: finalizers and owner references. */
export function changesOnlyGcFields(next: ApiObject, previous: ApiObject): boolean {
  const rest = ({ metadata, ...object }: ApiObject): Json => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, resourceVersion: _r, ...otherMetadata } = metadata
    return asJson({ ...object, metadata: otherMetadata })
  }
  return sameJson(rest(next), rest(previous))
}
