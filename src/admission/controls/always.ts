/** AlwaysAdmit and AlwaysDeny: for tests of clients; neither looks at anything. */
import { forbiddenError } from '../../model/api-error.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

const everything = { operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] } as const

export function alwaysAdmit(): Control {
  return { name: 'AlwaysAdmit', handles: everything }
}

export function alwaysDeny(): Control {
  return { name: 'AlwaysDeny', handles: everything, validate: refuse }
}

function refuse({ type, name }: AdmissionRequest): never {
  const full = type.group === '' ? type.plural : `${type.plural}.${type.group}`
  throw forbiddenError(type, name, `${full} "${name}" is forbidden: admission control is denying all modifications`)
}
