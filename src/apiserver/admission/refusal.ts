/** Creates the 403 error for a rejected request. */
import { type ApiError, forbiddenError } from '../../api/model/api-error.ts'
import type { AdmissionRequest } from './admission.ts'

type Refused = Pick<AdmissionRequest, 'type' | 'name' | 'drawnFrom'>

export function refusal(request: Refused, why: string): ApiError {
  const { type } = request
  const name = refusedName(request)
  const full = type.group === '' ? type.plural : `${type.plural}.${type.group}`
  return forbiddenError(type, name, `${full} "${name}" is forbidden: ${why}`)
}

/** Returns the object's name for messages. A name that was generated for this attempt is omitted. */
export function refusedName({ name, drawnFrom }: Refused): string {
  return drawnFrom ?? name
}
