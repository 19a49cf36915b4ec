/**
 * What a reader of schemas works out about a node, once: which of its fields concern it, for example. It is remembered
 * for as long as the node is there, and rests on that a schema never changes.
 */
import type { Schema } from './schema.ts'

export function perSchema<S extends Schema, T extends object>(workOut: (schema: S) => T): (schema: S) => T {
  const known = new WeakMap<S, T>()
  return (schema) => {
    let found = known.get(schema)
    if (found === undefined) {
      found = workOut(schema)
      known.set(schema, found)
    }
    return found
  }
}
