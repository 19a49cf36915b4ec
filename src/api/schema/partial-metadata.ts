/**
 * Objects of which only the metadata is shown, and lists of such. They are views of any kind (`as=` in a media type) and
 * published nowhere; in Protobuf a list of the older version has its fields under other numbers.
 */
import { listMeta } from './meta-types.ts'
import { objectMeta } from './object-meta.ts'
import { field, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

export const partialObjectMetadata = s.object({ ...typeMeta, metadata: field(1, objectMeta, { zero: 'write' }) })

const numbers = { v1: { metadata: 1, items: 2 }, v1beta1: { metadata: 2, items: 1 } }

/** The versions in which objects can be shown without everything but metadata. */
export type PartialVersion = keyof typeof numbers

/** The schema of a list of objects that have metadata only. */
export function partialObjectMetadataList(version: PartialVersion): ObjectSchema {
  const { metadata, items } = numbers[version]
  return s.object({
    ...typeMeta,
    metadata: field(metadata, listMeta, { zero: 'write' }),
    items: field(items, s.list(partialObjectMetadata), { zero: 'write' }),
  })
}
