/**
 * Lists all parts of kinds that may exist in only some Kubernetes versions: the kinds themselves, their fields, columns
 * and subresources.
 */
import type { Availability } from '../versions/availability.ts'
import type { Kind } from './kind.ts'
import type { Schema } from './schema.ts'

/** Returns the availability of every part of these kinds. Includes shared types only once. */
export function availabilityParts(kinds: readonly Kind[]): Availability[] {
  const parts: Availability[] = []
  const seen = new Set<Schema>()
  for (const kind of kinds) {
    parts.push(kind, ...(kind.views.columns ?? []), ...Object.values(kind.views.subresources ?? {}))
    addFields(kind.schema, { parts, seen })
  }
  return parts
}

interface Collected {
  readonly parts: Availability[]
  readonly seen: Set<Schema>
}

function addFields(schema: Schema, collected: Collected): void {
  if (collected.seen.has(schema)) return
  collected.seen.add(schema)
  if (schema.type === 'list') addFields(schema.items, collected)
  else if (schema.type === 'map') addFields(schema.values, collected)
  else if (schema.type === 'object')
    for (const field of Object.values(schema.fields)) {
      collected.parts.push(field)
      addFields(field.schema, collected)
    }
}
