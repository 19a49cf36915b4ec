/**
 * A NodeSelector selects nodes by labels and fields. A node must match at least one term, and all requirements of that
 * term.
 */
import { at, child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain, checkQualifiedName } from '../../../model/names.ts'
import { field, type Infer, s } from '../../../schema/schema.ts'

const requirement = s.object(
  {
    key: field(1, s.string(), { zeroValue: 'write', doc: 'Label key, or the path of a node field.' }),
    operator: field(2, s.string(), { zeroValue: 'write', doc: 'Operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.' }),
    values: field(3, s.list(s.string()), {
      doc: 'Values to compare with. `In` and `NotIn` require at least one value, and `Gt` and `Lt` require exactly one integer. Must be empty for the other operators.',
    }),
  },
  { name: 'NodeSelectorRequirement', doc: 'A requirement on a label or field of a node.' },
)

type Requirement = Infer<typeof requirement>

export const nodeSelectorTerm = s.object(
  {
    matchExpressions: field(1, s.list(requirement), { doc: 'Requirements on the labels of a node.' }),
    matchFields: field(2, s.list(requirement), {
      doc: 'Requirements on the fields of a node. The only supported field is `metadata.name`.',
    }),
  },
  {
    name: 'NodeSelectorTerm',
    doc: 'A set of requirements, all of which a node must meet. An empty term matches no nodes.',
    atomic: true,
    check: ({ matchExpressions = [], matchFields = [] }, path) => [
      ...matchExpressions.flatMap((item, i) => checkExpression(item, at(child(path, 'matchExpressions'), i))),
      ...matchFields.flatMap((item, i) => checkField(item, at(child(path, 'matchFields'), i))),
    ],
  },
)

export const nodeSelector = s.object(
  {
    nodeSelectorTerms: field(1, s.list(nodeSelectorTerm), {
      required: true,
      doc: 'Alternative terms. A node must match at least one of them.',
    }),
  },
  {
    name: 'core.v1.NodeSelector',
    doc: 'Selects nodes. A node is selected if it matches at least one term.',
    atomic: true,
  },
)

/** Validates a requirement on a node label. */
function checkExpression(item: Requirement, path: FieldPath): FieldError[] {
  const { key = '' } = item
  const keyFaults = checkQualifiedName(key).map((text) => invalid(child(path, 'key'), key, text))
  return [...checkOperator(item, path), ...keyFaults]
}

function checkOperator({ operator = '', values = [] }: Requirement, path: FieldPath): FieldError[] {
  const place = child(path, 'values')
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(place, `${operator} requires at least one value`)]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? [] : [forbidden(place, `must not be set when the operator is ${operator}`)]
    case 'Gt':
    case 'Lt':
      return values.length === 1 ? [] : [required(place, `${operator} requires exactly one value`)]
    default:
      return [unknownOperator(operator, path)]
  }
}

/** Validates a requirement on a node field. Only `metadata.name` is supported. */
function checkField(item: Requirement, path: FieldPath): FieldError[] {
  const { key = '', values = [] } = item
  const operatorFaults = checkFieldOperator(item, path)
  if (key !== 'metadata.name')
    return [...operatorFaults, invalid(child(path, 'key'), key, 'the only field to select by is metadata.name')]
  const names = values.flatMap((name, i) =>
    checkDnsSubdomain(name).map((text) => invalid(at(child(path, 'values'), i), name, text)),
  )
  return [...operatorFaults, ...names]
}

function checkFieldOperator({ operator = '', values = [] }: Requirement, path: FieldPath): FieldError[] {
  if (operator !== 'In' && operator !== 'NotIn') return [unknownOperator(operator, path)]
  return values.length === 1
    ? []
    : [required(child(path, 'values'), `${operator} on a field requires exactly one value`)]
}

function unknownOperator(operator: string, path: FieldPath): FieldError {
  return invalid(child(path, 'operator'), operator, 'this operator is not supported here')
}
