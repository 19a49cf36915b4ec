/** Conditions in the status of FlowSchema and PriorityLevelConfiguration, one per type. */
import { at, child, duplicate, type FieldError, type FieldPath, required } from '../../../model/field-error.ts'
import { field, s } from '../../../schema/schema.ts'
import { repeatedAt } from '../../core/types/repeated.ts'
import { byType } from '../../list-keys.ts'

/**
 * Returns the status type of the given kind. The names of the published types start with the kind's name. In v1beta3
 * and later versions, strategic merge patches merge the conditions. In earlier versions, they replace the conditions.
 */
export function conditionsStatus(kind: string, patch: 'merge' | 'replace' = 'replace') {
  const condition = s.object(
    {
      type: field(1, s.string(), { doc: 'Type of the condition.' }),
      status: field(2, s.string(), { doc: 'Status of the condition: `True`, `False` or `Unknown`.' }),
      lastTransitionTime: field(3, s.time(), {
        zeroValue: 'write',
        published: 'optional',
        doc: 'Time when the status last changed.',
      }),
      reason: field(4, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
      message: field(5, s.string(), { doc: 'Human-readable details about the last transition.' }),
    },
    { name: `${kind}Condition`, doc: 'A condition of a flow control object.' },
  )
  return s.object(
    {
      conditions: field(1, s.list(condition, patch === 'merge' ? byType : { list: 'map', keys: ['type'] }), {
        doc: 'Current conditions. At most one condition per type.',
      }),
    },
    {
      name: `${kind}Status`,
      doc: 'Observed status of a flow control object.',
      check: ({ conditions = [] }, path) => checkTypes(conditions, child(path, 'conditions')),
    },
  )
}

function checkTypes(conditions: readonly { readonly type?: string }[], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(conditions.map(({ type = '' }) => type))
  return conditions.flatMap(({ type = '' }, i) => {
    const place = child(at(path, i), 'type')
    return [
      ...(repeated.has(i) ? [duplicate(place, type)] : []),
      ...(type === '' ? [required(place, 'must not be empty')] : []),
    ]
  })
}
