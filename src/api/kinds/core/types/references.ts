/** References from one object to another. A reference is atomic: a write replaces all of its fields. */
import { field, s } from '../../../schema/schema.ts'

const referenceFields = {
  kind: field(1, s.string(), { doc: 'Kind of the referenced object.' }),
  namespace: field(2, s.string(), { doc: 'Namespace of the referenced object.' }),
  name: field(3, s.string(), { doc: 'Name of the referenced object.' }),
  uid: field(4, s.string(), {
    doc: 'UID of the referenced object. Distinguishes the object from earlier and later objects with the same name.',
  }),
  apiVersion: field(5, s.string(), { doc: 'API group and version of the referenced object.' }),
  resourceVersion: field(6, s.string(), { doc: 'Resource version of the referenced object.' }),
  fieldPath: field(7, s.string(), {
    doc: 'Path of the referenced part of the object, for example `spec.containers{name}`.',
  }),
}

const referenceNames = { name: 'core.v1.ObjectReference', doc: 'A reference to an object or to a part of it.' }

/** A reference to any object. The server does not check that the object exists. */
export const objectReference = s.object(referenceFields, { ...referenceNames, atomic: true })

/** A reference whose fields have separate owners in server-side apply. */
export const granularObjectReference = s.object(referenceFields, referenceNames)

/** Returns the schema of a reference to a Secret in any namespace. Callers choose which fields are required. */
export function secretReference(required: { readonly name?: boolean; readonly namespace?: boolean } = {}) {
  const { name = false, namespace = false } = required
  return s.object(
    {
      name: field(1, s.string(), { required: name, published: 'optional', doc: 'Name of the Secret.' }),
      namespace: field(2, s.string(), { required: namespace, published: 'optional', doc: 'Namespace of the Secret.' }),
    },
    { name: 'core.v1.SecretReference', doc: 'A reference to a Secret in any namespace.', atomic: true },
  )
}
