/** Condition: what is known of the state of an object, in the form that many kinds share. */
import { field, s } from '../../schema/schema.ts'

export const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'What is told about it, in one word.' }),
    status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
    observedGeneration: field(3, s.int64(), { doc: 'The generation of the object that this is about.' }),
    lastTransitionTime: field(4, s.time(), {
      zero: 'write',
      published: 'required',
      doc: 'When the status last changed.',
    }),
    reason: field(5, s.string(), { zero: 'write', published: 'required', doc: 'Why, in one word for programs.' }),
    message: field(6, s.string(), { zero: 'write', published: 'required', doc: 'Why, for people.' }),
  },
  { name: 'meta.v1.Condition', doc: 'Something that is known of the state of an object.' },
)

export const conditions = s.list(condition, { list: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' })
