/** References from one object to another. They are set and owned as a whole. */
import { field, s } from '../../../schema/schema.ts'

/** To any object. Nobody checks that it is there. */
export const objectReference = s.object(
  {
    kind: field(1, s.string()),
    namespace: field(2, s.string()),
    name: field(3, s.string()),
    uid: field(4, s.string()),
    apiVersion: field(5, s.string()),
    resourceVersion: field(6, s.string()),
    fieldPath: field(7, s.string()),
  },
  { atomic: true },
)

/** To a Secret in any namespace; the places that use it differ in what they insist on. */
export function secretReference(required: { readonly name?: boolean; readonly namespace?: boolean } = {}) {
  const { name = false, namespace = false } = required
  return s.object(
    { name: field(1, s.string(), { required: name }), namespace: field(2, s.string(), { required: namespace }) },
    { atomic: true },
  )
}
