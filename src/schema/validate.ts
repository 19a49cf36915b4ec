/**
 * Checks a decoded value against what its schema demands beyond types: required fields, listed values, map keys,
 * unique list elements, choices of one field among several, and the rules of its types.
 */

import { memoizeByObject } from '../base/memoize-by-object.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  maxFaults,
  notSupported,
  required,
} from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../model/json.ts'
import { containsSchema } from './contains-schema.ts'
import type { RuleContext } from './context.ts'
import type { Effort } from './effort.ts'
import { matchesType } from './matches-type.ts'
import { PresentFields } from './present-fields.ts'
import type { Choice, Field, ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts'

/** Most of a kind has no rules, and is not walked. */
const hasRules = containsSchema((schema) => {
  if (schema.check !== undefined || schema.lenient) return true
  switch (schema.type) {
    case 'object':
      return schema.choice !== undefined || Object.values(schema.fields).some((field) => field.required)
    case 'map':
      return schema.key !== undefined
    case 'list':
      return schema.unique === true
    case 'string':
      return schema.values !== undefined
    default:
      return false
  }
})

/** The fields of an object that have something to be checked, in the order of the schema. */
const checkedFields = memoizeByObject(({ fields, choice }: ObjectSchema) => {
  const all = Object.entries(fields)
    .map(([name, field]) => ({ name, field, hasRules: hasRules(field.schema) }))
    .filter(({ name, field, hasRules }) => field.required || hasRules || choice?.among.includes(name))
  return new PresentFields(all, ({ field }) => field.required === true)
})

/** Returns everything that the schema finds wrong with a decoded value. */
export function validate(schema: Schema, value: Json, context: RuleContext): FieldError[] {
  const errors: FieldError[] = []
  const effort = { isClean: () => errors.length === 0, steps: 0, began: undefined, spent: false }
  check(schema, value, '', { context, errors, effort, reported: new Set() })
  return errors
}

interface Validation {
  readonly context: RuleContext
  /** What was found so far, in the order of the schema. */
  readonly errors: FieldError[]
  readonly effort: Effort
  /** The words of faults that are reported once. */
  readonly reported: Set<string>
}

function check(schema: Schema, value: Json, path: FieldPath, validation: Validation): void {
  if (!hasRules(schema) || validation.errors.length >= maxFaults) return
  if (schema.lenient && !schema.anyType && !matchesType(schema, value)) {
    const misfits = schema.misfit?.(value, path) ?? [invalid(path, typeName(value), `must be of type ${schema.type}`)]
    report(misfits, validation)
  } else if (value !== null && !schema.skipsParts?.(value)) checkType(schema, value, path, validation)
  if (value === null && !schema.lenient && schema.nullable) return
  const errors = schema.check?.(value, path, validation.context, validation.effort)
  if (errors !== undefined) report(errors, validation)
}

function report(faults: readonly FieldError[], { errors, reported }: Validation): void {
  for (const fault of faults) {
    if (fault.once !== undefined && reported.has(fault.once)) continue
    if (fault.once !== undefined) reported.add(fault.once)
    errors.push(fault)
  }
}

function checkType(schema: Schema, value: Json, path: FieldPath, validation: Validation): void {
  switch (schema.type) {
    case 'object':
      if (isObject(value) && !schema.unjudged) checkObject(schema, value, schema.faultsAt?.(path) ?? path, validation)
      return
    case 'map':
      if (isObject(value)) checkMap(schema, value, path, validation)
      return
    case 'list':
      if (Array.isArray(value)) checkList(schema, value, path, validation)
      return
    case 'string':
      if (schema.values && !schema.values.includes(String(value)))
        validation.errors.push(notSupported(path, value, schema.values))
      return
    default:
      return
  }
}

function checkObject(schema: ObjectSchema, value: JsonObject, path: FieldPath, validation: Validation): void {
  const { choice } = schema
  const chosen = choice ? membersIn(value, choice) : []
  const unjudged = schema.leavesUnjudged?.(value)
  for (const { name, field, hasRules } of checkedFields(schema).of(value)) {
    const item = own(value, name)
    if (chosen.length > 1 && chosen.indexOf(name) > 0)
      validation.errors.push(forbidden(child(path, name), `may not specify more than 1 ${choice?.noun}`))
    else if (field.required && isMissing(item)) validation.errors.push(required(child(path, name)))
    else if (hasRules && item !== undefined && !isUnsent(item, field) && !unjudged?.includes(name))
      check(field.schema, item, child(path, name), validation)
  }
  if (choice && chosen.length === 0) validation.errors.push(required(path, `must specify a ${choice.noun}`))
}

function membersIn(value: JsonObject, { among }: Choice): string[] {
  const present = Object.keys(value).filter((name) => value[name] !== undefined && among.includes(name))
  return present.length < 2 ? present : among.filter((name) => present.includes(name))
}

function isMissing(item: Json | undefined): boolean {
  return item === undefined || item === '' || item === null
}

/** An empty text that is always written was not sent; any other is one that was. */
function isUnsent(item: Json, field: Field): boolean {
  return item === '' && field.zero === 'write'
}

function checkMap(schema: MapSchema, value: JsonObject, path: FieldPath, validation: Validation): void {
  const looksInto = hasRules(schema.values)
  for (const key of Object.keys(value)) {
    if (validation.errors.length >= maxFaults) return
    const place = schema.lenient ? child(path, key) : at(path, key)
    for (const text of schema.key?.(key) ?? []) validation.errors.push(invalid(place, key, text))
    if (looksInto) check(schema.values, value[key]!, place, validation)
  }
}

function checkList(schema: ListSchema, value: Json[], path: FieldPath, validation: Validation): void {
  if (schema.unique) checkUnique(schema, value, path, validation)
  if (!hasRules(schema.items)) return
  for (let i = 0; i < value.length; i++) check(schema.items, value[i]!, schema.lenient ? path : at(path, i), validation)
}

function checkUnique(schema: ListSchema, value: Json[], path: FieldPath, { errors }: Validation): void {
  const seen = new Set<string>()
  for (const [i, item] of value.entries()) {
    const identity = identityOf(schema, item)
    if (seen.has(identity)) errors.push(duplicate(at(path, i), item))
    seen.add(identity)
  }
}

/** What makes an element of a set or keyed list itself, as a string to compare. */
function identityOf(schema: ListSchema, item: Json): string {
  if (schema.list === 'set' || !isObject(item)) return textOf(item)
  return textOf(schema.keys?.map((key) => own(item, key) ?? null) ?? [])
}

function textOf(value: Json): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item))
}
