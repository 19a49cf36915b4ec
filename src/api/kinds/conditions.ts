/** The condition list of workloads, with one condition per type. */
import { field, s } from '../schema/schema.ts'
import { byType } from './list-keys.ts'

/**
 * Returns the list type of conditions. `name` is the name of the published condition type, and `of` is the kind that
 * has the conditions.
 */
export function conditionsOf(name: string, of: string) {
  return s.list(s.object(conditionFields, { name, doc: `Observed condition of the ${of}.` }), byType)
}

export const conditionFields = {
  type: field(1, s.string(), { zeroValue: 'write', published: 'required', doc: 'Type of the condition.' }),
  status: field(2, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Status of the condition: `True`, `False` or `Unknown`.',
  }),
  lastTransitionTime: field(3, s.time(), { zeroValue: 'write', doc: 'Time when the status last changed.' }),
  reason: field(4, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
  message: field(5, s.string(), { doc: 'Human-readable details about the last transition.' }),
}
