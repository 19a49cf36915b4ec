/** LabelSelector as a field of objects: labels that must match, and expressions that must hold. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { checkLabelKey, checkLabels } from '../../../model/label-rules.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const requirementFields = {
  key: field(1, s.string(), { zero: 'write' }),
  operator: field(2, s.string(), { zero: 'write' }),
  values: field(3, s.list(s.string())),
}

const requirement = s.object(requirementFields, {
  name: 'meta.v1.LabelSelectorRequirement',
  doc: 'What must hold for the value of one label.',
  check: checkRequirement,
})

const selectorFields = {
  matchLabels: field(1, s.map(s.string())),
  matchExpressions: field(2, s.list(requirement)),
}

export const labelSelector = s.object(selectorFields, {
  name: 'meta.v1.LabelSelector',
  doc: 'Selects objects by their labels. All that it says must hold; an empty one selects everything.',
  atomic: true,
  check: ({ matchLabels }, path) => checkLabels(matchLabels, child(path, 'matchLabels')),
})

export type LabelSelector = InferFields<typeof selectorFields>

function checkRequirement(
  { key = '', operator = '', values = [] }: InferFields<typeof requirementFields>,
  path: FieldPath,
): FieldError[] {
  return [...checkOperator(operator, values, path), ...checkLabelKey(key, child(path, 'key'))]
}

function checkOperator(operator: string, values: readonly string[], path: FieldPath): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(child(path, 'values'), "needed when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbidden(child(path, 'values'), "none may be given when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')]
  }
}
