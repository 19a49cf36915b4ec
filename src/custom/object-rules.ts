/**
 * What custom objects must comply with beyond what their schema says of single values: elements of sets and keyed lists
 * occur once, embedded objects are objects, and the number of replicas is one. Unlike the faults of a schema, which name
 * a list, these name the element.
 */
import { at, child, type FieldError, type FieldPath, invalid, maxFaults } from '../model/field-error.ts'
import { goSyntax } from '../model/go-syntax.ts'
import { isObject, type Json, type JsonObject, own } from '../model/json.ts'
import { type ApiObject, asJson } from '../model/object.ts'
import { containsSchema } from '../schema/contains-schema.ts'
import type { ListSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { namesIn, type ScalePaths } from './custom-scale.ts'
import { embeddedFaults } from './embedded-objects.ts'

/** Most schemas have none of these, and are not walked. */
const hasRules = containsSchema(
  (schema) => (schema.type === 'list' && schema.list !== 'atomic') || (schema.type === 'object' && !!schema.embedded),
)

/** Makes the test of all objects of a schema. Their metadata has rules of its own, which are those of every kind. */
export function objectRules(
  { fields }: ObjectSchema,
  scale: ScalePaths | undefined,
): (object: ApiObject) => FieldError[] {
  const parts = Object.entries(fields).filter(([name, { schema }]) => name !== 'metadata' && hasRules(schema))
  return (object) => {
    const faults = scale === undefined ? [] : scaleFaults(asJson(object), scale)
    for (const [name, { schema }] of parts)
      for (const fault of faultsIn(schema, own(asJson(object), name), name)) {
        if (faults.length >= maxFaults) return faults
        faults.push(fault)
      }
    return faults
  }
}

function* faultsIn(schema: Schema, value: Json | undefined, path: FieldPath): Generator<FieldError> {
  if (value === undefined || !hasRules(schema)) return
  if (schema.type === 'list' && Array.isArray(value)) {
    if (schema.list !== 'atomic') yield* listFaults(schema, value, path)
    for (const [i, item] of value.entries()) yield* faultsIn(schema.items, item, at(path, i))
  } else if (schema.type === 'object' && isObject(value)) {
    if (schema.embedded) yield* embeddedFaults(value, path)
    for (const [name, { schema: inner }] of Object.entries(schema.fields)) {
      if (hasRules(inner)) yield* faultsIn(inner, own(value, name), child(path, name))
    }
  } else if (schema.type === 'map' && isObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* faultsIn(schema.values, item, at(path, key))
  }
}

function listFaults({ list, keys = [], items }: ListSchema, value: readonly Json[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return value.flatMap((item, i) => {
    if (list === 'map' && item === null) return []
    if (list === 'map' && !isObject(item))
      return [invalid(at(path, i), item, 'must be an object for an array of list-type map')]
    const identity = list === 'map' ? keysOf(item as JsonObject, keys, items) : item
    const text = goSyntax(identity)
    if (!seen.has(text)) {
      seen.add(text)
      return []
    }
    return [{ fault: 'FieldValueDuplicate', path: at(path, i), text: `Duplicate value: ${text}` } as const]
  })
}

function keysOf(item: JsonObject, keys: readonly string[], items: Schema): JsonObject {
  const presets = items.type === 'object' ? items.fields : {}
  const found = keys.map((key) => [key, own(item, key) ?? presets[key]?.default] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

const maxReplicas = 2 ** 31 - 1

/** The scale can only be shown if its numbers are numbers, and the selector is a text. */
function scaleFaults(object: JsonObject, paths: ScalePaths): FieldError[] {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  return [
    ...replicasFaults(object, specReplicasPath),
    ...replicasFaults(object, statusReplicasPath),
    ...(labelSelectorPath === '' ? [] : selectorFaults(object, labelSelectorPath)),
  ]
}

function replicasFaults(object: JsonObject, path: string): FieldError[] {
  const found = follow(object, path)
  if ('blocked' in found) return [invalid(path, 0, notOfType(path, found.blocked, 'map[string]interface {}'))]
  const { value } = found
  if (value === undefined) return []
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return [invalid(path, 0, notOfType(path, value, 'int64'))]
  if ((value as number) < 0) return [invalid(path, value, 'should be a non-negative integer')]
  if ((value as number) <= maxReplicas) return []
  return [invalid(path, value, `should be less than or equal to ${maxReplicas}`)]
}

function selectorFaults(object: JsonObject, path: string): FieldError[] {
  const found = follow(object, path)
  if ('blocked' in found) return [invalid(path, '', notOfType(path, found.blocked, 'map[string]interface {}'))]
  if (found.value === undefined || typeof found.value === 'string') return []
  return [invalid(path, '', notOfType(path, found.value, 'string'))]
}

type Found = { readonly value: Json | undefined } | { readonly blocked: Json }

/** The value at a simple path, or what is in its way. */
function follow(object: JsonObject, path: string): Found {
  let here: Json | undefined = object
  for (const name of namesIn(path)) {
    if (here === undefined) break
    if (!isObject(here)) return { blocked: here }
    here = own(here, name)
  }
  return { value: here }
}

const goTypes: { readonly [type: string]: string } = { string: 'string', boolean: 'bool', bigint: 'int64' }

function notOfType(path: string, value: Json, wanted: string): string {
  const shown = typeof value === 'string' ? value : goSyntax(value)
  return `${path} accessor error: ${shown} is of the type ${goType(value)}, expected ${wanted}`
}

function goType(value: Json): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return goTypes[typeof value] ?? 'map[string]interface {}'
}
