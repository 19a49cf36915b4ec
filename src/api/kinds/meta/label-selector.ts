/** The field type LabelSelector, which contains required labels and label expressions. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../model/field-error.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkLabelKey, checkLabels } from '../../selectors/label-rules.ts'

const requirementFields = {
  key: field(1, s.string(), { zeroValue: 'write', doc: 'Label key.' }),
  operator: field(2, s.string(), { zeroValue: 'write', doc: 'Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`.' }),
  values: field(3, s.list(s.string()), {
    doc: 'Values to compare with. Required for `In` and `NotIn`, forbidden for `Exists` and `DoesNotExist`.',
  }),
}

const requirementNames = {
  name: 'meta.v1.LabelSelectorRequirement',
  doc: 'A requirement on the value of a label.',
}

/** A label requirement whose content is not validated. */
export const labelSelectorRequirement = s.object(requirementFields, requirementNames)

/** A field requirement whose content is not validated. */
export const fieldSelectorRequirement = s.object(
  {
    key: field(1, s.string(), { zeroValue: 'write', doc: 'Path of the field.' }),
    operator: field(2, s.string(), { zeroValue: 'write', doc: 'Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`.' }),
    values: field(3, s.list(s.string()), {
      doc: 'Values to compare with. Required for `In` and `NotIn`, forbidden for `Exists` and `DoesNotExist`.',
    }),
  },
  { name: 'meta.v1.FieldSelectorRequirement', doc: 'A requirement on the value of a field.' },
)

const selectorNames = {
  name: 'meta.v1.LabelSelector',
  doc: 'Selects objects by their labels. An object must meet all requirements. An empty selector matches all objects.',
  atomic: true,
}

const matchLabels = field(1, s.map(s.string()), { doc: 'Labels that an object must have, with exactly these values.' })
const expressionsDoc = { doc: 'Additional requirements on labels. An object must meet all of them.' }

/** A label selector that is not validated here, because the controller that uses it interprets it. */
export const freeLabelSelector = s.object(
  { matchLabels, matchExpressions: field(2, s.list(labelSelectorRequirement), expressionsDoc) },
  selectorNames,
)

const requirement = s.object(requirementFields, { ...requirementNames, check: checkRequirement })

const selectorFields = { matchLabels, matchExpressions: field(2, s.list(requirement), expressionsDoc) }

export const labelSelector = s.object(selectorFields, {
  ...selectorNames,
  check: ({ matchLabels: labels }, path) => checkLabels(labels, child(path, 'matchLabels')),
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
      return values.length > 0 ? [] : [required(child(path, 'values'), "required when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbidden(child(path, 'values'), "must be empty when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')]
  }
}
