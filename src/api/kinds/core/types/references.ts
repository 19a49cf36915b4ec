/** References from one object to another. They are set and owned as a whole. */
import { field, s } from '../../../schema/schema.ts'

/** To any object. Nobody checks that it is there. */
export const objectReference = s.object(
  {
    kind: field(1, s.string(), { doc: 'Its kind.' }),
    namespace: field(2, s.string(), { doc: 'Its namespace.' }),
    name: field(3, s.string(), { doc: 'Its name.' }),
    uid: field(4, s.string(), { doc: 'Its uid, which distinguishes it from others that had or will have its name.' }),
    apiVersion: field(5, s.string(), { doc: 'Group and version of its kind.' }),
    resourceVersion: field(6, s.string(), { doc: 'Its version.' }),
    fieldPath: field(7, s.string(), { doc: 'The referenced part of it, such as `spec.containers{name}`.' }),
  },
  { name: 'core.v1.ObjectReference', doc: 'An object, or a part of one.', atomic: true },
)

/** To a Secret in any namespace; the places that use it differ in what they insist on. */
export function secretReference(required: { readonly name?: boolean; readonly namespace?: boolean } = {}) {
  const { name = false, namespace = false } = required
  return s.object(
    {
      name: field(1, s.string(), { required: name, published: 'optional', doc: 'The name of the Secret.' }),
      namespace: field(2, s.string(), { required: namespace, published: 'optional', doc: 'The namespace it is in.' }),
    },
    { name: 'core.v1.SecretReference', doc: 'A Secret in any namespace.', atomic: true },
  )
}
