/** The conditions in the status of both kinds of flow control: one of each type. */
import { at, child, duplicate, type FieldError, type FieldPath, required } from '../../../model/field-error.ts'
import { field, s } from '../../../schema/schema.ts'
import { repeatedAt } from '../../core/types/repeated.ts'

/** The status of a kind, under whose name the types are published. */
export function conditionsStatus(kind: string) {
  const condition = s.object(
    {
      type: field(1, s.string(), { doc: 'What the condition is about.' }),
      status: field(2, s.string(), { doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(3, s.time(), {
        zero: 'write',
        published: 'optional',
        doc: 'When the status last changed.',
      }),
      reason: field(4, s.string(), { doc: 'Why, in one word for programs.' }),
      message: field(5, s.string(), { doc: 'Why, for people.' }),
    },
    { name: `${kind}Condition`, doc: 'Something that is known of its state.' },
  )
  return s.object(
    {
      conditions: field(1, s.list(condition, { list: 'map', keys: ['type'] }), { doc: 'What is known of its state.' }),
    },
    {
      name: `${kind}Status`,
      doc: 'What is known of its state.',
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
