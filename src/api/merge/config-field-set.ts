/**
 * Determines the fields in a configuration, which its applier will own.
 *
 * A manager that applies a value owns its field. For a field that the schema defines and that can contain other fields,
 * the manager owns only the fields inside it, unless the field is empty or null. The applier always owns user-defined
 * keys and list elements themselves. Configurations that cannot be merged are rejected with a 400 error that contains
 * the path: unknown fields, values of other types where objects or lists are expected, and elements whose keys are
 * duplicates or not scalars. A missing key counts as empty if the schema allows it (keyless-elements.ts). The decoder
 * checks the types of scalars and atomic values in the merged object.
 */

import { isObject, type Json, type JsonObject, typeName } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { badRequest } from '../model/api-error.ts'
import { at, child, type FieldPath } from '../model/field-error.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { emptySet, type FieldSet, isEmpty, justHere } from './field-set.ts'
import { itemElement, keyOf, pathText } from './path-elements.ts'
import { hasElements, hasMembers, isSchemaField, type Membered, memberOf } from './shape.ts'

export function configFieldSet(schema: Schema, config: Json): FieldSet {
  return fieldsIn(schema, config, '')
}

/** Returns the fields in a configuration. Yields periodically so that other work can run. */
export function* configFieldSetSliced(schema: Schema, config: Json, path: FieldPath = ''): Generator<void, FieldSet> {
  if (!isLarge(config)) return fieldsIn(schema, config, path)
  yield
  if (hasMembers(schema) && isObject(config)) return yield* memberFieldsSliced(schema, config, path)
  if (hasElements(schema) && Array.isArray(config)) return yield* elementFieldsSliced(schema, config, path)
  return fieldsIn(schema, config, path)
}

function* memberFieldsSliced(schema: Membered, config: JsonObject, path: FieldPath): Generator<void, FieldSet> {
  const children = new Map<string, FieldSet>()
  let members = 0
  for (const name of Object.keys(config)) {
    if (++members % partsPerSlice === 0) yield
    const { step, type, place } = statedMember(schema, name, path)
    const set = yield* configFieldSetSliced(type, config[name]!, place)
    addMember(children, step, statedAs(schema, { name, item: config[name]!, set }))
  }
  return { member: false, children }
}

function* elementFieldsSliced(schema: ListSchema, config: Json[], path: FieldPath): Generator<void, FieldSet> {
  const children = new Map<string, FieldSet>()
  for (let i = 0; i < config.length; i++) {
    if (i % partsPerSlice === 0) yield
    const place = at(path, i)
    const step = newElement(schema, { item: config[i]!, place }, children)
    children.set(step, { ...(yield* configFieldSetSliced(schema.items, config[i]!, place)), member: true })
  }
  return children.size === 0 ? emptySet : { member: false, children }
}

function fieldsIn(schema: Schema, value: Json, path: FieldPath): FieldSet {
  if (hasMembers(schema) && (isObject(value) || schema.type !== 'any')) return memberFields(schema, value, path)
  return hasElements(schema) ? elementFields(schema, value, path) : justHere
}

function memberFields(schema: Membered, value: Json, path: FieldPath): FieldSet {
  if (value === null) return emptySet
  if (!isObject(value)) throw badRequest(`${path || 'the body'}: expected object, got ${typeName(value)}`)
  const children = new Map<string, FieldSet>()
  for (const name of Object.keys(value)) {
    const { step, type, place } = statedMember(schema, name, path)
    addMember(children, step, statedAs(schema, { name, item: value[name]!, set: fieldsIn(type, value[name]!, place) }))
  }
  return { member: false, children }
}

/** Returns the path and schema of a member in the configuration. Throws if the schema has no such member. */
function statedMember(schema: Membered, name: string, path: FieldPath) {
  const place = child(path, name)
  refuseUnknown(schema, name, place)
  const { step, schema: type } = memberOf(schema, name)
  return { step, type, place }
}

interface StatedMember {
  readonly name: string
  readonly item: Json
  /** The fields that the applier owns below the member. */
  readonly set: FieldSet
}

/** Adds the member itself to the set if the applier of the configuration owns it. */
function statedAs(schema: Membered, { name, item, set }: StatedMember): FieldSet {
  const member = set.member || !isSchemaField(schema, name) || isBlank(item)
  return member === set.member ? set : { member, children: set.children }
}

function addMember(children: Map<string, FieldSet>, step: string, set: FieldSet): void {
  if (!isEmpty(set)) children.set(step, set)
}

function refuseUnknown(schema: Membered, name: string, path: FieldPath): void {
  if (schema.type !== 'object' || schema.open || Object.hasOwn(schema.fields, name)) return
  throw badRequest(`unknown field "${path}": an applied object may contain only known fields`)
}

function isBlank(value: Json): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0)
}

function elementFields(schema: ListSchema, value: Json, path: FieldPath): FieldSet {
  if (value === null) return emptySet
  if (!Array.isArray(value)) throw badRequest(`${path}: expected array, got ${typeName(value)}`)
  const children = new Map<string, FieldSet>()
  for (const [i, item] of value.entries()) {
    const place = at(path, i)
    const step = newElement(schema, { item, place }, children)
    children.set(step, { ...fieldsIn(schema.items, item, place), member: true })
  }
  return children.size === 0 ? emptySet : { member: false, children }
}

interface StatedElement {
  readonly item: Json
  readonly place: FieldPath
}

/** Returns the path element of a list element. Rejects an element whose path element is already in `known`. */
function newElement(
  schema: ListSchema,
  { item, place }: StatedElement,
  knownElements: ReadonlyMap<string, FieldSet>,
): string {
  if (schema.list === 'map') refuseOddKeys(schema, item, place)
  else refuseNoScalar(item, place)
  const step = itemElement(schema, item)
  if (knownElements.has(step)) throw badRequest(`${place}: duplicate entry for ${pathText([step])}`)
  return step
}

function refuseOddKeys(schema: ListSchema, item: Json, path: FieldPath): void {
  if (!isObject(item)) throw badRequest(`${path}: expected object, got ${typeName(item)}`)
  for (const name of schema.keys ?? []) {
    const value = keyOf(schema, item, name)
    if (typeof value === 'object')
      throw badRequest(`${path}.${name}: a list key must be a scalar, got ${typeName(value)}`)
  }
}

function refuseNoScalar(item: Json, path: FieldPath): void {
  if (item === null || typeof item === 'object')
    throw badRequest(`${path}: a set element must be a scalar, got ${typeName(item)}`)
}
