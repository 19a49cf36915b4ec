/** How the elements of lists are named as steps of a place: by their keys, or by their value. */
import { stringifyJson } from '../codec/json.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { ListSchema } from '../schema/schema.ts'

export function fieldStep(name: string): string {
  return `f:${name}`
}

/** The step to an element of a set or keyed list. */
export function elementStep(schema: ListSchema, item: Json): string {
  if (schema.list === 'set' || !isObject(item)) return `v:${stringifyJson(item)}`
  const key: JsonObject = {}
  for (const name of schema.keys ?? []) if (item[name] !== undefined) key[name] = item[name]
  return `k:${stringifyJson(key)}`
}
