/**
 * Records the author of KWOK Stage objects, on whose behalf the simulated nodes apply them
 * (docs/decisions/0067-stage-authors.md). Clients cannot change the record. No flag disables this control.
 */
import { type Json, sameJson } from '../../api/json/json.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { authorText, stageAuthorKey } from '../../cluster/nodes/kwok/stage-author.ts'
import type { Control } from './admission.ts'

/** Returns the control, which must run after all controls that change objects. */
export function recordStageAuthor(vendor: Vendor): Control {
  const key = stageAuthorKey(vendor)
  return {
    name: 'stage author',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [{ group: 'kwok.x-k8s.io.', plural: 'stages' }],
      subresources: [''],
    },
    mutate: ({ object, oldObject, user }) => {
      if (object === undefined) return undefined
      const isSame = oldObject !== undefined && sameJson(specOf(object), specOf(oldObject))
      const author = isSame ? oldObject.metadata.annotations?.[key] : authorText(user)
      const { [key]: claimed, ...others } = object.metadata.annotations ?? {}
      if (claimed === author) return undefined
      const annotations = author === undefined ? others : { ...others, [key]: author }
      return { ...object, metadata: { ...object.metadata, annotations } }
    },
  }
}

function specOf(object: ApiObject): Json {
  return asJson(object).spec ?? null
}
