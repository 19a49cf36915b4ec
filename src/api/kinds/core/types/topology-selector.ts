/**
 * TopologySelectorTerm: places that labels of nodes distinguish, such as zones. All requirements of a term must be met.
 */
import { at, child, duplicate, type FieldError, type FieldPath, required } from '../../../model/field-error.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { field, type Infer, s } from '../../../schema/schema.ts'
import { repeatedAt } from './repeated.ts'

const requirement = s.object(
  {
    key: field(1, s.string(), { zero: 'write', doc: 'The label of the nodes.' }),
    values: field(2, s.list(s.string()), { zero: 'write', published: 'required', doc: 'The values that will do.' }),
  },
  { name: 'TopologySelectorLabelRequirement', doc: 'What the value of one label must be.' },
)

type Requirement = Infer<typeof requirement>

export const topologySelectorTerm = s.object(
  { matchLabelExpressions: field(1, s.list(requirement), { doc: 'What must hold for labels.' }) },
  { name: 'core.v1.TopologySelectorTerm', doc: 'Places, by labels of their nodes.', atomic: true },
)

type Term = Infer<typeof topologySelectorTerm>

/** No two terms say the same, and none says nothing. */
export function checkTopologyTerms(terms: readonly Term[] = [], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(terms.map(meaningOf))
  return terms.flatMap((term, i) => {
    const place = child(at(path, i), 'matchLabelExpressions')
    const { matchLabelExpressions: requirements = [] } = term
    const isIdle = requirements.length === 0 || repeated.has(i)
    return [...checkRequirements(requirements, place), ...(isIdle ? [duplicate(place, '')] : [])]
  })
}

/** What a term selects, as a text to compare: neither the order of keys nor that of values counts. */
function meaningOf({ matchLabelExpressions: requirements = [] }: Term): string {
  const byKey = new Map(requirements.map(({ key = '', values = [] }) => [key, [...new Set(values)].sort()]))
  return JSON.stringify([...byKey].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function checkRequirements(requirements: readonly Requirement[], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(requirements.map(({ key = '' }) => key))
  return requirements.flatMap(({ key = '', values = [] }, i) => [
    ...checkValues(values, child(at(path, i), 'values')),
    ...checkLabelKey(key, child(at(path, i), 'key')),
    ...(repeated.has(i) ? [duplicate(child(at(path, i), 'key'), key)] : []),
  ])
}

function checkValues(values: readonly string[], path: FieldPath): FieldError[] {
  if (values.length === 0) return [required(path)]
  return [...repeatedAt(values)].map((i) => duplicate(at(path, i), values[i]!))
}
