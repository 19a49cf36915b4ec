/**
 * Removes fields that an applier set last time and no longer sets, unless another manager owns them (spec: apply, rule
 * 5).
 *
 * A field is removed together with all fields below it. A field that the schema defines counts as owned while a manager
 * owns any field below it. A list element or user-defined key counts as owned only if it is owned itself. If all
 * members of a field were removed, the field becomes null, so that the decoder drops it and defaults apply again. Parts
 * without removals remain the same values in memory.
 */
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { partsPerSlice } from '../json/large-json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { below, type FieldSet } from './field-set.ts'
import { copySliced } from './merge-patch.ts'
import { fieldElement, itemElement, itemsByElement } from './path-elements.ts'
import { hasElements, hasMembers, isSchemaField, type Membered, memberSchema } from './shape.ts'

export interface Ownership {
  /** Fields that the applier owned after its last apply. */
  readonly last: FieldSet
  /** Fields that any manager owns after this apply. They are not removed. */
  readonly owned: FieldSet
}

/** Removes from a value the fields that were owned before and no longer are. Yields periodically. */
export function* prune(schema: Schema, value: Json, { last, owned }: Ownership): Generator<void, Json> {
  if (last.children.size === 0) return value
  if (hasMembers(schema) && isObject(value)) return yield* pruneMembers(schema, value, { last, owned })
  if (hasElements(schema) && Array.isArray(value)) return yield* pruneElements(schema, value, { last, owned })
  return value
}

function* pruneMembers(schema: Membered, value: JsonObject, { last, owned }: Ownership): Generator<void, Json> {
  let pruned: JsonObject | undefined
  let members = 0
  for (const name of Object.keys(value)) {
    if (++members % partsPerSlice === 0) yield
    const step = fieldElement(name)
    const was = last.children.get(step)
    if (was === undefined) continue
    const isField = isSchemaField(schema, name)
    const is = below(owned, step)
    const gone = holds(was, isField) && !holds(is, isField)
    const keptItems = gone
      ? undefined
      : yield* prune(memberSchema(schema, name), value[name]!, { last: was, owned: is })
    if (keptItems === value[name]) continue
    pruned ??= yield* copySliced(value)
    if (keptItems === undefined) delete pruned[name]
    else setKey(pruned, name, keptItems)
  }
  if (pruned === undefined) return value
  return Object.keys(pruned).length === 0 ? null : pruned
}

function* pruneElements(schema: ListSchema, value: Json[], { last, owned }: Ownership): Generator<void, Json> {
  const keptItems: Json[] = []
  let same = true
  for (const [i, item] of value.entries()) {
    if (i % partsPerSlice === 0) yield
    const step = itemElement(schema, item)
    const was = below(last, step)
    const is = below(owned, step)
    const gone = was.member && !is.member
    const next = gone ? undefined : ((yield* prune(schema.items, item, { last: was, owned: is })) ?? {})
    if (next !== item) same = false
    if (next !== undefined) keptItems.push(next)
  }
  if (same) return value
  return keptItems.length === 0 ? null : keptItems
}

/**
 * Returns a copy of `pruned` in which owned fields that pruning removed from `whole` are restored. Takes the value of
 * such a field from `whole` even if `pruned` has one: if the field was removed in another version, conversion may have
 * set it to zero.
 */
export function putBack(schema: Schema, whole: Json, pruned: Json | undefined, owned: FieldSet): Json {
  if (pruned === whole) return whole
  if (hasMembers(schema) && isObject(whole)) {
    const rest = isObject(pruned) ? pruned : {}
    const keptItems = Object.entries(whole).flatMap(([name, value]) => {
      const is = below(owned, fieldElement(name))
      if (own(rest, name) === undefined && !holds(is, isSchemaField(schema, name))) return []
      return [[name, putBack(memberSchema(schema, name), value!, own(rest, name), is)] as const]
    })
    return Object.fromEntries(keptItems)
  }
  if (hasElements(schema) && Array.isArray(whole)) {
    const rest = itemsByElement(schema, Array.isArray(pruned) ? pruned : [])
    return whole.flatMap((item) => {
      const step = itemElement(schema, item)
      if (!rest.has(step) && !below(owned, step).member) return []
      return [putBack(schema.items, item, rest.get(step), below(owned, step))]
    })
  }
  return owned.member ? whole : (pruned ?? whole)
}

function holds(set: FieldSet, isField: boolean): boolean {
  return set.member || (isField && set.children.size > 0)
}
