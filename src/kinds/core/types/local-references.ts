/** Ways to name another object from within the same namespace. */
import { field, inlined, s } from '../../../schema/schema.ts'

const named = { name: field(1, s.string(), { doc: 'The name of the object.' }) }

export const localObjectReference = s.object(named, {
  name: 'core.v1.LocalObjectReference',
  doc: 'An object in the same namespace, by name.',
  atomic: true,
})

/** The fields of a LocalObjectReference in a type that has them beside its own. */
export const inlinedReference = inlined(1, named)

export const typedLocalObjectReference = s.object(
  {
    apiGroup: field(1, s.string(), { zero: 'keep', doc: 'The group of the kind; the core group if unset.' }),
    kind: field(2, s.string(), { zero: 'write', doc: 'The kind of the object.' }),
    name: field(3, s.string(), { zero: 'write', doc: 'The name of the object.' }),
  },
  { name: 'core.v1.TypedLocalObjectReference', doc: 'An object of any kind in the same namespace.', atomic: true },
)
