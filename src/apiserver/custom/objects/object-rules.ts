/**
 * Validates custom objects beyond single values: elements of sets and keyed lists must be unique, embedded objects must
 * be valid, and replica counts must be numbers. These errors contain the path of the element, whereas schema errors
 * contain the path of the list.
 */

import { goSyntax } from '../../../api/json/go-syntax.ts'
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { isLarge, partsPerSlice } from '../../../api/json/large-json.ts'
import { at, child, type FieldError, type FieldPath, invalid, maxFaults } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { containsSchema } from '../../../api/schema/contains-schema.ts'
import { PresentFields } from '../../../api/schema/present-fields.ts'
import type { ListSchema, MapSchema, ObjectSchema, Schema } from '../../../api/schema/schema.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { namesIn, type ScalePaths } from './custom-scale.ts'
import { embeddedFaults } from './embedded-objects.ts'

/** Whether a schema has rules beyond single values. Most schemas have no such rules and are skipped. */
const hasRules = containsSchema(
  (schema) => (schema.type === 'list' && schema.list !== 'atomic') || (schema.type === 'object' && !!schema.embedded),
)

/** Returns the fields of an object schema that need this validation or have descendants that need it. */
const ruledFields = memoizeByObject(({ fields }: ObjectSchema) => {
  const ruled = Object.entries(fields).flatMap(([name, { schema }]) => (hasRules(schema) ? [{ name, schema }] : []))
  return new PresentFields(ruled, () => false)
})

/** Validates an object in steps, so that other requests can run in between. */
export type ObjectRules = (object: ApiObject) => Sliced<FieldError[]>

/**
 * Returns the validation for a schema, or undefined if the schema needs none. Metadata is validated elsewhere, by the
 * rules for all kinds.
 */
export function objectRules(schema: ObjectSchema, scale: ScalePaths | undefined): ObjectRules | undefined {
  const parts = Object.entries(schema.fields).filter(([name, field]) => name !== 'metadata' && hasRules(field.schema))
  if (parts.length === 0 && scale === undefined) return undefined
  return function* (object) {
    const search = new Search(scale === undefined ? [] : scaleFaults(asJson(object), scale))
    for (const [name, field] of parts) yield* search.findSliced(field.schema, own(asJson(object), name), name)
    return search.faults
  }
}

/** Maximum number of embedded objects to validate in one step. Each takes about ten microseconds. */
const objectsBetweenSteps = 64

/** Finds the errors in one object. */
class Search {
  /** The errors found so far. Their number is limited. */
  readonly faults: FieldError[]
  /** Number of embedded objects validated in the current step. */
  #embedded = 0

  constructor(faults: FieldError[]) {
    this.faults = faults
  }

  get isOver(): boolean {
    return this.faults.length >= maxFaults
  }

  add(more: readonly FieldError[]): void {
    for (const fault of more) if (!this.isOver) this.faults.push(fault)
  }

  /**
   * Validates a value, in steps if it is large. Small list elements are validated without interruption, but the
   * embedded objects in them still count toward the current step.
   */
  *findSliced(schema: Schema, value: Json | undefined, path: FieldPath): Generator<void, void> {
    if (!hasRules(schema)) return
    if (!isLarge(value)) {
      this.#find(schema, value, path)
      if (this.#embedded < objectsBetweenSteps) return
      this.#embedded = 0
      yield
      return
    }
    yield
    if (schema.type === 'list' && Array.isArray(value)) yield* this.#findInList(schema, value, path)
    else if (schema.type === 'map' && isObject(value)) yield* this.#findInMap(schema, value, path)
    else if (schema.type === 'object' && isObject(value)) {
      if (schema.embedded) this.add(embeddedFaults(value, path))
      for (const { name, schema: inner } of ruledFields(schema).of(value))
        yield* this.findSliced(inner, own(value, name), child(path, name))
    }
  }

  *#findInList(schema: ListSchema, value: readonly Json[], path: FieldPath): Generator<void, void> {
    const elements = schema.list === 'atomic' ? undefined : new Elements(schema, path, this)
    for (let i = 0; elements !== undefined && i < value.length; i++) {
      if (i % partsPerSlice === 0) yield
      elements.add(value[i]!, i)
    }
    for (let i = 0; hasRules(schema.items) && i < value.length; i++) {
      if (i % partsPerSlice === 0) yield
      yield* this.findSliced(schema.items, value[i], at(path, i))
    }
  }

  *#findInMap(schema: MapSchema, value: JsonObject, path: FieldPath): Generator<void, void> {
    let entries = 0
    for (const key of Object.keys(value)) {
      if (++entries % partsPerSlice === 0) yield
      yield* this.findSliced(schema.values, value[key], at(path, key))
    }
  }

  #find(schema: Schema, value: Json | undefined, path: FieldPath): void {
    if (value === undefined || this.isOver || !hasRules(schema)) return
    if (schema.type === 'list' && Array.isArray(value)) {
      const elements = schema.list === 'atomic' ? undefined : new Elements(schema, path, this)
      if (elements !== undefined) for (const [i, item] of value.entries()) elements.add(item, i)
      if (hasRules(schema.items)) for (const [i, item] of value.entries()) this.#find(schema.items, item, at(path, i))
    } else if (schema.type === 'object' && isObject(value)) {
      if (schema.embedded) {
        this.#embedded++
        this.add(embeddedFaults(value, path))
      }
      for (const { name, schema: inner } of ruledFields(schema).of(value)) {
        const item = own(value, name)
        if (item !== undefined) this.#find(inner, item, child(path, name))
      }
    } else if (schema.type === 'map' && isObject(value)) {
      for (const key of Object.keys(value)) this.#find(schema.values, value[key], at(path, key))
    }
  }
}

/** Checks that the elements of a set or keyed list are unique. */
class Elements {
  readonly #schema: ListSchema
  readonly #path: FieldPath
  readonly #search: Search
  /** Elements seen so far. Nearly all are strings. Other elements are compared in Go syntax, which is slower. */
  readonly #texts = new Set<string>()
  readonly #others = new Set<string>()

  constructor(schema: ListSchema, path: FieldPath, search: Search) {
    this.#schema = schema
    this.#path = path
    this.#search = search
  }

  add(item: Json, index: number): void {
    const isKeyed = this.#schema.list === 'map'
    if ((isKeyed && item === null) || this.#search.isOver) return
    if (isKeyed && !isObject(item)) {
      this.#search.add([invalid(at(this.#path, index), item, 'must be an object for an array of list-type map')])
      return
    }
    const only = isKeyed ? onlyKey(item as JsonObject, this.#schema) : item
    const identity = () => goSyntax(isKeyed ? keysOf(item as JsonObject, this.#schema) : item)
    if (typeof only === 'string' ? isNew(this.#texts, only) : isNew(this.#others, identity())) return
    const path = at(this.#path, index)
    this.#search.add([{ fault: 'FieldValueDuplicate', path, text: `Duplicate value: ${identity()}` }])
  }
}

function isNew(seen: Set<string>, text: string): boolean {
  const { size } = seen
  return seen.add(text).size > size
}

/** Returns the key of a list element if the list has exactly one key field, and undefined otherwise. */
function onlyKey(item: JsonObject, schema: ListSchema): Json | undefined {
  return schema.keys?.length === 1 ? keyIn(item, schema.keys[0]!, schema) : undefined
}

function keysOf(item: JsonObject, schema: ListSchema): JsonObject {
  const keyEntries = (schema.keys ?? []).map((key) => [key, keyIn(item, key, schema)] as const)
  return Object.fromEntries(keyEntries.filter(([, value]) => value !== undefined))
}

function keyIn(item: JsonObject, key: string, { items }: ListSchema): Json | undefined {
  const presets = items.type === 'object' ? items.fields : {}
  return own(item, key) ?? presets[key]?.default
}

const maxReplicas = 2 ** 31 - 1

/**
 * Checks that the replica fields are numbers and that the selector is a string, because otherwise the server could not
 * return a Scale.
 */
function scaleFaults(object: JsonObject, paths: ScalePaths): FieldError[] {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  return [
    ...replicasFaults(object, specReplicasPath),
    ...replicasFaults(object, statusReplicasPath),
    ...(labelSelectorPath === '' ? [] : selectorFaults(object, labelSelectorPath)),
  ]
}

function replicasFaults(object: JsonObject, path: string): FieldError[] {
  const target = follow(object, path)
  if ('blocked' in target) return [invalid(path, 0, notOfType(path, target.blocked, 'map[string]interface {}'))]
  const { value } = target
  if (value === undefined) return []
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return [invalid(path, 0, notOfType(path, value, 'int64'))]
  if ((value as number) < 0) return [invalid(path, value, 'should be a non-negative integer')]
  if ((value as number) <= maxReplicas) return []
  return [invalid(path, value, `should be less than or equal to ${maxReplicas}`)]
}

function selectorFaults(object: JsonObject, path: string): FieldError[] {
  const target = follow(object, path)
  if ('blocked' in target) return [invalid(path, '', notOfType(path, target.blocked, 'map[string]interface {}'))]
  if (target.value === undefined || typeof target.value === 'string') return []
  return [invalid(path, '', notOfType(path, target.value, 'string'))]
}

type FollowedPath = { readonly value: Json | undefined } | { readonly blocked: Json }

/**
 * Follows a path into an object and returns the value there. If the path cannot be followed because a value is not an
 * object, returns that value.
 */
function follow(object: JsonObject, path: string): FollowedPath {
  let here: Json | undefined = object
  for (const name of namesIn(path)) {
    if (here === undefined) break
    if (!isObject(here)) return { blocked: here }
    here = own(here, name)
  }
  return { value: here }
}

const goTypes: { readonly [type: string]: string } = { string: 'string', boolean: 'bool', bigint: 'int64' }

function notOfType(path: string, value: Json, expectedType: string): string {
  const shown = typeof value === 'string' ? value : goSyntax(value)
  return `${path} accessor error: ${shown} is of the type ${goType(value)}, expected ${expectedType}`
}

function goType(value: Json): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return goTypes[typeof value] ?? 'map[string]interface {}'
}
