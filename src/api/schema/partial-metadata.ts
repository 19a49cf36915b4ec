/**
 * Metadata-only objects, and lists of such objects. They can represent objects of any kind (`as=` in a media type) and
 * are not published. In Protobuf, v1beta1 lists use different field numbers.
 */
import { listMeta } from './meta-types.ts'
import { objectMeta } from './object-meta.ts'
import { field, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

export const partialObjectMetadata = s.object({ ...typeMeta, metadata: field(1, objectMeta, { zeroValue: 'write' }) })

const numbers = { v1: { metadata: 1, items: 2 }, v1beta1: { metadata: 2, items: 1 } }

/** API version in which metadata-only objects can be requested. */
export type PartialVersion = keyof typeof numbers

/** Returns the schema of a list of metadata-only objects. */
export function partialObjectMetadataList(version: PartialVersion): ObjectSchema {
  const { metadata, items } = numbers[version]
  return s.object({
    ...typeMeta,
    metadata: field(metadata, listMeta, { zeroValue: 'write' }),
    items: field(items, s.list(partialObjectMetadata), { zeroValue: 'write' }),
  })
}
