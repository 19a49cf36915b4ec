/** References to another object in the same namespace. */
import { field, inlined, s } from '../../../schema/schema.ts'

const name = field(1, s.string(), { doc: 'Name of the referenced object.' })

const names = {
  name: 'core.v1.LocalObjectReference',
  doc: 'A reference to an object in the same namespace.',
  atomic: true,
}

/** A reference to an object in the same namespace. Its name may be empty. */
export const localObjectReference = s.object({ name }, names)

/** A reference to an object in the same namespace. Its name is required. */
export const namedReference = s.object({ name: { ...name, required: true, published: 'optional' as const } }, names)

/** The field of a LocalObjectReference, inlined into types that extend it. */
export const inlinedReference = inlined(1, { name })

const typedReferenceFields = {
  apiGroup: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'API group of the referenced object. Empty for the core group.',
  }),
  kind: field(2, s.string(), { zeroValue: 'write', doc: 'Kind of the referenced object.' }),
  name: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the referenced object.' }),
}

export const typedObjectReference = s.object(
  {
    ...typedReferenceFields,
    namespace: field(4, s.string(), {
      zeroValue: 'keep',
      doc: 'Namespace of the referenced object. Requires the CrossNamespaceVolumeDataSource feature gate.',
    }),
  },
  { name: 'core.v1.TypedObjectReference', doc: 'A reference to an object of any kind.' },
)

export const typedLocalObjectReference = s.object(typedReferenceFields, {
  name: 'core.v1.TypedLocalObjectReference',
  doc: 'A reference to an object of any kind in the same namespace.',
  atomic: true,
})
