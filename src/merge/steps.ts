/** How places are named: steps to members by name, to elements of lists by their keys or their value. */
import { stringifyJson, stringifyMembers } from '../codec/json.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../model/json.ts'
import type { ListSchema } from '../schema/schema.ts'

export function fieldStep(name: string): string {
  return `f:${name}`
}

/** The step to an element of a set or keyed list. */
export function elementStep(schema: ListSchema, item: Json): string {
  if (schema.list === 'set' || !isObject(item)) return `v:${stringifyJson(item)}`
  return `k:{${stringifyMembers(keysOf(schema, item))}}`
}

/** The key fields of an element; one that is left out counts with its default. */
export function keysOf(schema: ListSchema, item: JsonObject): JsonObject {
  const keys: JsonObject = {}
  for (const name of schema.keys ?? []) {
    const value = own(item, name) ?? defaultOf(schema, name)
    if (value !== undefined) setKey(keys, name, value)
  }
  return keys
}

function defaultOf({ items }: ListSchema, name: string): Json | undefined {
  return items.type === 'object' && Object.hasOwn(items.fields, name) ? items.fields[name]!.default : undefined
}

/** The elements of a list by their steps, in order. Of elements with one and the same step the first counts. */
export function byStep(schema: ListSchema, items: readonly Json[]): Map<string, Json> {
  const elements = new Map<string, Json>()
  for (const item of items) {
    const step = elementStep(schema, item)
    if (!elements.has(step)) elements.set(step, item)
  }
  return elements
}

/** A path as people read it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(path: readonly string[]): string {
  return path.map(stepText).join('')
}

function stepText(step: string): string {
  const rest = step.slice(2)
  if (step.startsWith('f:')) return `.${rest}`
  return step.startsWith('k:') ? `[${keyText(JSON.parse(rest))}]` : step.startsWith('v:') ? `[=${rest}]` : `[${rest}]`
}

function keyText(keys: JsonObject): string {
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${stringifyJson(value!)}`)
    .join(',')
}
