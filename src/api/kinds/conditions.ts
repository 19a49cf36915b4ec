/** Conditions of workloads: what is known of their state, one entry per type. */
import { field, s } from '../schema/schema.ts'
import { byType } from './list-keys.ts'

/** `name` is that of the published type, `of` the kind that it is about. */
export function conditionsOf(name: string, of: string) {
  return s.list(s.object(conditionFields, { name, doc: `Something that is known of the state of a ${of}.` }), byType)
}

export const conditionFields = {
  type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'What the condition is about.' }),
  status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
  lastTransitionTime: field(3, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
  reason: field(4, s.string(), { doc: 'Why, in one word for programs.' }),
  message: field(5, s.string(), { doc: 'Why, for people.' }),
}
