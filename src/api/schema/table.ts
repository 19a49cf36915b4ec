/**
 * Tables of objects for display. They can represent objects of any kind (`as=Table` in a media type) and are not
 * published.
 */
import { listMeta } from './meta-types.ts'
import { field, type ObjectSchema, type Schema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

const columnDefinition = s.object({
  name: field(1, s.string()),
  type: field(2, s.string()),
  format: field(3, s.string()),
  description: field(4, s.string()),
  priority: field(5, s.int32()),
})

const rowCondition = s.object({
  type: field(1, s.string()),
  status: field(2, s.string()),
  reason: field(3, s.string()),
  message: field(4, s.string()),
})

/** Returns the schema of a table row whose `object` has the given type. */
export function tableRow(object: Schema): ObjectSchema {
  return s.object({
    cells: field(1, s.list(s.any())),
    conditions: field(2, s.list(rowCondition)),
    object: field(3, object),
  })
}

/** Returns the schema of a table with objects of the given type. */
export function tableOf(object: Schema): ObjectSchema {
  return s.object({
    ...typeMeta,
    metadata: field(1, listMeta),
    columnDefinitions: field(2, s.list(columnDefinition)),
    rows: field(3, s.list(tableRow(object))),
  })
}
