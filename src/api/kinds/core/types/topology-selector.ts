/**
 * A TopologySelectorTerm selects topology domains, such as zones, by node labels. All requirements of a term must be
 * met.
 */
import { at, child, duplicate, type FieldError, type FieldPath, required } from '../../../model/field-error.ts'
import { field, type Infer, s } from '../../../schema/schema.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import type { LabelUse } from './old-labels.ts'
import { repeatedAt } from './repeated.ts'

const requirement = s.object(
  {
    key: field(1, s.string(), { zeroValue: 'write', doc: 'Key of the node label.' }),
    values: field(2, s.list(s.string()), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Allowed values of the label. At least one value is required.',
    }),
  },
  { name: 'TopologySelectorLabelRequirement', doc: 'A requirement on a node label.' },
)

type Requirement = Infer<typeof requirement>

export const topologySelectorTerm = s.object(
  {
    matchLabelExpressions: field(1, s.list(requirement), {
      doc: 'Requirements on node labels. A topology domain must meet all of them.',
    }),
  },
  { name: 'core.v1.TopologySelectorTerm', doc: 'Selects topology domains by the labels of their nodes.', atomic: true },
)

type Term = Infer<typeof topologySelectorTerm>

/** Returns the label keys in the topology terms, with their paths. */
export function topologyLabels(terms: readonly Term[], path: FieldPath): LabelUse[] {
  return terms.flatMap(({ matchLabelExpressions = [] }, i) =>
    matchLabelExpressions.map(({ key = '' }, j): LabelUse => {
      return [key, child(at(child(at(path, i), 'matchLabelExpressions'), j), 'key')]
    }),
  )
}

/** Rejects empty terms and terms that are equivalent to an earlier term. */
export function checkTopologyTerms(terms: readonly Term[] = [], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(terms.map(meaningOf))
  return terms.flatMap((term, i) => {
    const place = child(at(path, i), 'matchLabelExpressions')
    const { matchLabelExpressions: requirements = [] } = term
    const isIdle = requirements.length === 0 || repeated.has(i)
    return [...checkRequirements(requirements, place), ...(isIdle ? [duplicate(place, '')] : [])]
  })
}

/** Returns a key for comparing topology terms regardless of the order of their labels and values. */
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
