/** Ways to name another object from within the same namespace. */
import { field, inlined, s } from '../../../schema/schema.ts'

const name = field(1, s.string(), { doc: 'The name of the object.' })

const names = {
  name: 'core.v1.LocalObjectReference',
  doc: 'An object in the same namespace, by name.',
  atomic: true,
}

/** Nobody checks that there is a name in it. */
export const localObjectReference = s.object({ name }, names)

/** The same where a name is demanded. */
export const namedReference = s.object({ name: { ...name, required: true, published: 'optional' as const } }, names)

/** The fields of a LocalObjectReference in a type that has them beside its own. */
export const inlinedReference = inlined(1, { name })

export const typedLocalObjectReference = s.object(
  {
    apiGroup: field(1, s.string(), { zero: 'keep', doc: 'The group of the kind; the core group if unset.' }),
    kind: field(2, s.string(), { zero: 'write', doc: 'The kind of the object.' }),
    name: field(3, s.string(), { zero: 'write', doc: 'The name of the object.' }),
  },
  { name: 'core.v1.TypedLocalObjectReference', doc: 'An object of any kind in the same namespace.', atomic: true },
)
