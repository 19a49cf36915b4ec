/**
 * Determines whether a schema or any nested schema has a property, so that a caller can skip schemas without it.
 * Results are cached per schema node, which is safe because schemas are immutable.
 */
import type { Schema } from './schema.ts'

/** Returns a function that reports whether `isWanted` holds for a schema or for any part of it. Results are cached. */
export function containsSchema(isWanted: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const resultsBySchema = new WeakMap<Schema, boolean>()
  const find = (schema: Schema): boolean => {
    const cachedResult = resultsBySchema.get(schema)
    if (cachedResult !== undefined) return cachedResult
    // A recursive schema counts as a match while its parts are searched. As a result, a part may be visited
    // unnecessarily, but no part is missed.
    resultsBySchema.set(schema, true)
    const has = isWanted(schema) || below(schema).some(find)
    resultsBySchema.set(schema, has)
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
