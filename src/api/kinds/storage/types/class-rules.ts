/** Validation of the driver name and the parameters, which all kinds of classes have. */
import { type FieldError, type FieldPath, invalid, required, tooLong } from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'

const maxParameters = 512
const maxParameterBytes = 256 * 1024

/** Validates the name of a provisioner or driver. The schema reports a missing name. */
export function checkProvisioner(name: string, path: FieldPath): FieldError[] {
  if (name === '') return []
  return checkQualifiedName(name.toLowerCase()).map((fault) => invalid(path, name, fault))
}

/** Validates the parameters for a provisioner or driver. */
export function checkParameters(
  parameters: { readonly [key: string]: string },
  { needsOne }: { readonly needsOne: boolean },
): FieldError[] {
  const path = 'parameters'
  const keys = Object.keys(parameters)
  if (keys.length > maxParameters) return [tooLong(path, maxParameters)]
  const bytes = keys.reduce((sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(parameters[key]!), 0)
  return [
    ...(keys.includes('') ? [invalid(path, '', 'field can not be empty.')] : []),
    ...(bytes > maxParameterBytes ? [tooLong(path, maxParameterBytes)] : []),
    ...(needsOne && keys.length === 0 ? [required(path, 'must contain at least one key/value pair')] : []),
  ]
}
