/**
 * Whether a node of a schema, or any below it, is of some sort: a reader that acts on such nodes only leaves the rest
 * alone. Determined once per node and remembered for as long as the node is there: a schema never changes.
 */
import type { Schema } from './schema.ts'

/** Returns a test whether a schema or any part of it is wanted; the results are cached. */
export function containsSchema(isWanted: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const known = new WeakMap<Schema, boolean>()
  const find = (schema: Schema): boolean => {
    const found = known.get(schema)
    if (found !== undefined) return found
    // A schema that holds itself is taken to have some: that costs a look, never a miss.
    known.set(schema, true)
    const has = isWanted(schema) || below(schema).some(find)
    known.set(schema, has)
    return has
  }
  return find
}

function below(schema: Schema): readonly Schema[] {
  switch (schema.type) {
    case 'object':
      return Object.values(schema.fields).map((field) => field.schema)
    case 'map':
      return [schema.values]
    case 'list':
      return [schema.items]
    default:
      return []
  }
}
