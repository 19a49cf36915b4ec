/** How a control says no: 403, with the object and the reason. */
import { type ApiError, forbiddenError } from '../model/api-error.ts'
import type { AdmissionRequest } from './admission.ts'

export function refusal({ type, name }: Pick<AdmissionRequest, 'type' | 'name'>, why: string): ApiError {
  const full = type.group === '' ? type.plural : `${type.plural}.${type.group}`
  return forbiddenError(type, name, `${full} "${name}" is forbidden: ${why}`)
}
