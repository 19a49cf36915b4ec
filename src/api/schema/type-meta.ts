/** The two fields that say what a document is. They are in its JSON only: in Protobuf the envelope carries them. */
import { field, s } from './schema.ts'

/** The two fields that say what type an object is. */
export const typeMeta = {
  kind: field(0, s.string(), { doc: 'The kind of the object. It follows from the path and cannot change.' }),
  apiVersion: field(0, s.string(), {
    doc: 'APIVersion defines the group and version of this representation of the object.',
  }),
}
