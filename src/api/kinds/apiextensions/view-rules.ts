/** Validation of a custom resource's scale subresource and printer columns. */
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import type { DefinitionVersion } from './definition-fields.ts'

export function checkScale({ subresources }: DefinitionVersion, place: FieldPath): FieldError[] {
  const { scale } = subresources ?? {}
  if (scale === undefined) return []
  const path = child(place, 'subresources.scale')
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale
  return [
    ...checkPath(child(path, 'specReplicasPath'), specReplicasPath, ['.spec']),
    ...checkPath(child(path, 'statusReplicasPath'), statusReplicasPath, ['.status']),
    ...(labelSelectorPath === ''
      ? []
      : checkPath(child(path, 'labelSelectorPath'), labelSelectorPath, ['.spec', '.status'])),
  ]
}

function checkPath(path: FieldPath, value: string, below: readonly string[]): FieldError[] {
  const faults = checkSimplePath(path, value)
  if (faults.length > 0) return faults
  if (below.some((root) => value.startsWith(`${root}.`))) return []
  return [invalid(path, value, `should be a json path under ${below.join(' or ')}`)]
}

function checkSimplePath(path: FieldPath, value: string): FieldError[] {
  if (value === '') return [required(path)]
  return value.startsWith('.') ? [] : [invalid(path, value, 'must be a simple json path starting with .')]
}

const types = ['boolean', 'date', 'integer', 'number', 'string']
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

export function checkColumns({ additionalPrinterColumns = [] }: DefinitionVersion, place: FieldPath): FieldError[] {
  return additionalPrinterColumns.flatMap(({ name = '', type = '', format = '', jsonPath = '' }, i) => {
    const path = at(child(place, 'additionalPrinterColumns'), i)
    return [
      ...(name === '' ? [required(child(path, 'name'))] : []),
      ...checkChoice(child(path, 'type'), type, types),
      ...(format === '' ? [] : checkChoice(child(path, 'format'), format, formats)),
      ...checkSimplePath(child(path, 'JSONPath'), jsonPath),
    ]
  })
}

function checkChoice(path: FieldPath, value: string, choices: readonly string[]): FieldError[] {
  const rule = `must be one of ${choices.join(',')}`
  if (value === '') return [required(path, rule)]
  return choices.includes(value) ? [] : [invalid(path, value, rule)]
}
