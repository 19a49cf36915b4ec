/**
 * Creates and parses path elements. The path element of a member contains its name, and the path element of a list
 * element contains its key values or its value.
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { stringifyJson } from '../codec/json.ts'
import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import { partsPerSlice } from '../json/large-json.ts'
import { parseNative } from '../json/native-json.ts'
import type { ListSchema } from '../schema/schema.ts'

/** Returns the path element of a field in the syntax of managedFields, such as `f:spec`. */
export function fieldElement(name: string): string {
  return `f:${name}`
}

/** Returns the path element of a list element, such as `k:{"name":"a"}` or, in a set, `v:"a"`. */
export function itemElement(schema: ListSchema, item: Json): string {
  if (schema.list === 'set' || !isObject(item)) return `v:${scalarText(item)}`
  let text = 'k:{'
  for (const { name, before } of keysOf(schema)) text += before + scalarText(keyOf(schema, item, name))
  return `${text}}`
}

/** Key fields of a list in order. `before` is the text before the value of the key in a path element. */
const keysOf = memoizeByObject(({ keys = [] }: ListSchema) =>
  keys.toSorted(compareUtf8).map((name, i) => ({ name, before: `${i === 0 ? '' : ','}${JSON.stringify(name)}:` })),
)

// Formats a scalar as JSON. Each apply formats every element of every list, so strings, the most common case, have a
// fast path.
function scalarText(value: Json): string {
  return typeof value === 'string' ? escapeMarkup(JSON.stringify(value)) : stringifyJson(value)
}

const markup = /[<>&\u2028\u2029]/
const allMarkup = new RegExp(markup, 'g')

/** Escapes HTML characters in the JSON of a path element as kube-apiserver does, as in `k:{"name":"a\\u003cb"}`. */
export function escapeMarkup(json: string): string {
  if (!markup.test(json)) return json
  return json.replaceAll(allMarkup, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Returns the value of an element's key field. If the field is missing, returns its default value or else the empty
 * value.
 */
export function keyOf(schema: ListSchema, item: JsonObject, name: string): Json {
  return own(item, name) ?? defaultOf(schema, name)
}

function defaultOf({ items }: ListSchema, name: string): Json {
  if (items.type !== 'object' || !Object.hasOwn(items.fields, name)) return ''
  const { default: given, schema } = items.fields[name]!
  return given ?? (schema.type === 'integer' || schema.type === 'number' ? 0 : schema.type === 'boolean' ? false : '')
}

/**
 * Returns the elements of a list by path element, in order. If several elements have the same path element, only the
 * first is included.
 */
export function itemsByElement(schema: ListSchema, items: readonly Json[]): Map<string, Json> {
  const elements = new Map<string, Json>()
  for (const item of items) {
    const step = itemElement(schema, item)
    if (!elements.has(step)) elements.set(step, item)
  }
  return elements
}

/** Like `itemsByElement`, but yields periodically so that other work can run. */
export function* itemsByElementSliced(schema: ListSchema, items: readonly Json[]): Generator<void, Map<string, Json>> {
  const elements = new Map<string, Json>()
  for (let i = 0; i < items.length; i++) {
    if (i % partsPerSlice === 0) yield
    const step = itemElement(schema, items[i]!)
    if (!elements.has(step)) elements.set(step, items[i]!)
  }
  return elements
}

/** Formats a path for messages, for example as `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(path: readonly string[]): string {
  return path.map(stepText).join('')
}

function stepText(step: string): string {
  const rest = step.slice(2)
  if (step.startsWith('f:')) return `.${rest}`
  return step.startsWith('k:')
    ? `[${keyText(parseNative(rest) as JsonObject)}]`
    : step.startsWith('v:')
      ? `[=${stringifyJson(parseNative(rest))}]`
      : `[${rest}]`
}

function keyText(keys: JsonObject): string {
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${stringifyJson(value!)}`)
    .join(',')
}
