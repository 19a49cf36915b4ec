/** Ways to name another object from within the same namespace. */
import { field, inlined, s } from '../../../schema/schema.ts'

const named = { name: field(1, s.string()) }

export const localObjectReference = s.object(named, {
  name: 'LocalObjectReference',
  doc: 'An object in the same namespace, by name.',
  atomic: true,
})

/** The fields of a LocalObjectReference in a type that has them beside its own. */
export const inlinedReference = inlined(1, named)

export const typedLocalObjectReference = s.object(
  {
    apiGroup: field(1, s.string(), { zero: 'keep' }),
    kind: field(2, s.string(), { zero: 'write' }),
    name: field(3, s.string(), { zero: 'write' }),
  },
  { name: 'TypedLocalObjectReference', doc: 'An object of any kind in the same namespace.', atomic: true },
)
