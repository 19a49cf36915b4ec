/**
 * The fields that identify the type of an object. They exist only in JSON. In Protobuf, the envelope contains the same
 * information.
 */
import { field, s } from './schema.ts'

/** The fields `kind` and `apiVersion`, which every object has. */
export const typeMeta = {
  kind: field(0, s.string(), { doc: 'Kind of the object, determined by the request path. Immutable.' }),
  apiVersion: field(0, s.string(), {
    doc: 'APIVersion defines the group and version of this representation of the object.',
  }),
}
