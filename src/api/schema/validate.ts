/**
 * Validates the constraints on a decoded value other than its types: required fields, allowed values, map keys, unique
 * list elements, groups of fields that require exactly one set field, and the types' own rules.
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { threadMicroseconds } from '../../base/concurrency/thread-time.ts'
import { runToCompletion, type Sliced } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
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
import { Changes } from './changes.ts'
import { containsSchema } from './contains-schema.ts'
import { isSince, type RuleContext } from './context.ts'
import type { Effort } from './effort.ts'
import { matchesType } from './matches-type.ts'
import { PresentFields } from './present-fields.ts'
import type { Choice, Field, ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts'

/** Whether any part of a schema has validation rules. Schemas without rules are skipped. */
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

interface CheckedField {
  readonly name: string
  readonly field: Field
  readonly hasRules: boolean
}

/** The fields of an object schema that need validation, in schema order. */
const checkedFields = memoizeByObject(({ fields, choice }: ObjectSchema) => {
  const all: CheckedField[] = Object.entries(fields)
    .map(([name, field]) => ({ name, field, hasRules: hasRules(field.schema) }))
    .filter(({ name, field, hasRules }) => field.required || hasRules || choice?.among.includes(name))
  return new PresentFields(all, ({ field }) => field.required === true)
})

/**
 * The context of a validation. If `previous` is set, parts of the value that have not changed are not validated again.
 */
export interface ValidationContext extends RuleContext {
  readonly previous?: Json | undefined
}

/** Returns all errors of a decoded value. */
export function validate(schema: Schema, value: Json, { previous, ...context }: ValidationContext): FieldError[] {
  const validation = new Validation(context, previous)
  validation.check(schema, { value, previous, path: '' })
  return validation.errors
}

/** Like `validate`, but yields wherever the work can be interrupted. */
export function* validateSliced(
  schema: Schema,
  value: Json,
  { previous, ...context }: ValidationContext,
): Generator<void, FieldError[]> {
  const validation = new Validation(context, previous)
  yield* validation.checkSliced(schema, { value, previous, path: '' })
  return validation.errors
}

/** A value to be validated. */
interface Judged {
  readonly value: Json
  readonly path: FieldPath
  /** The previous value, or undefined if unknown. Unchanged parts of the value are not validated again. */
  readonly previous: Json | undefined
}

class Validation {
  /** All errors so far, in the order of the schema. */
  readonly errors: FieldError[] = []
  readonly #context: RuleContext
  readonly #effort: Effort = { isClean: () => this.errors.length === 0, steps: 0, began: undefined, spent: false }
  /** Keys (`once`) of the errors reported so far, to report similar errors only once. */
  readonly #reported = new Set<string>()

  /** Whether errors of a user-defined schema contain the index of a list element. */
  readonly #namesElements: boolean
  /** Detects unchanged parts, which are skipped. Undefined if everything must be validated. */
  readonly #changes: Changes | undefined

  constructor(context: RuleContext, previous: Json | undefined) {
    this.#context = context
    this.#namesElements = isSince('1.25', context)
    this.#changes = previous === undefined ? undefined : new Changes()
  }

  check(schema: Schema, judged: Judged): void {
    if (!this.#isLookedAt(schema, judged)) return
    const { value, path } = judged
    if (this.#hasJudgedParts(schema, value, path)) this.#checkType(schema, judged)
    this.#checkWhole(schema, value, path)
  }

  /** Like `check`, but validates large values in steps. */
  *checkSliced(schema: Schema, judged: Judged): Generator<void, void> {
    const { value, path } = judged
    if (!isLarge(value)) return this.check(schema, judged)
    if (!this.#isLookedAt(schema, judged)) return
    yield* this.#rest()
    if (this.#hasJudgedParts(schema, value, path)) yield* this.#checkTypeSliced(schema, judged)
    yield* this.#checkWholeSliced(schema, value, path)
  }

  /** Yields to other requests. The time spent on other requests does not count as effort for this value. */
  *#rest(): Generator<void, void> {
    if (this.#effort.began === undefined) return yield
    const before = threadMicroseconds()
    yield
    this.#effort.began += threadMicroseconds() - before
  }

  #isLookedAt(schema: Schema, { value, previous }: Judged): boolean {
    return hasRules(schema) && this.errors.length < maxFaults && this.#changes?.isSame(value, previous) !== true
  }

  /** Returns the path of a list element. For user-defined schemas, the result may be the path of the list itself. */
  #elementPath({ lenient }: ListSchema, path: FieldPath, index: number): FieldPath {
    return lenient && !this.#namesElements ? path : at(path, index)
  }

  /** Returns whether to validate the parts of a value. Reports a value of the wrong type. */
  #hasJudgedParts(schema: Schema, value: Json, path: FieldPath): boolean {
    if (!schema.lenient || schema.anyType || matchesType(schema, value))
      return value !== null && !schema.skipsParts?.(value, this.#context)
    const misfits = schema.misfit?.(value, path, this.#context) ?? [
      invalid(path, typeName(value), `must be of type ${schema.type}`),
    ]
    this.#report(misfits)
    return false
  }

  /** Applies the type's own rule, which may assume that the parts of the value have already been validated. */
  #checkWhole(schema: Schema, value: Json, path: FieldPath): void {
    const result = this.#askRule(schema, value, path)
    this.#report(Array.isArray(result) ? result : runToCompletion(result))
  }

  *#checkWholeSliced(schema: Schema, value: Json, path: FieldPath): Generator<void, void> {
    const result = this.#askRule(schema, value, path)
    if (Array.isArray(result)) return this.#report(result)
    let step = result.next()
    while (!step.done) {
      yield* this.#rest()
      step = result.next()
    }
    this.#report(step.value)
  }

  #askRule(schema: Schema, value: Json, path: FieldPath): FieldError[] | Sliced<FieldError[]> {
    if (value === null && !schema.lenient && schema.nullable) return []
    return schema.check?.(value, path, this.#context, this.#effort) ?? []
  }

  #report(faults: readonly FieldError[]): void {
    for (const fault of faults) {
      if (fault.once !== undefined && this.#reported.has(fault.once)) continue
      if (fault.once !== undefined) this.#reported.add(fault.once)
      this.errors.push(fault)
    }
  }

  #checkType(schema: Schema, judged: Judged): void {
    const { value, path, previous } = judged
    switch (schema.type) {
      case 'object':
        if (isObject(value) && !schema.unvalidated)
          this.#checkObject(schema, { value, previous, path: schema.faultsAt?.(path, this.#context) ?? path })
        return
      case 'map':
        if (isObject(value)) this.#checkMap(schema, { value, path, previous })
        return
      case 'list':
        if (Array.isArray(value)) this.#checkList(schema, { value, path, previous })
        return
      case 'string':
        if (schema.values && !schema.values.includes(String(value)))
          this.errors.push(notSupported(path, value, schema.values))
        return
      default:
        return
    }
  }

  /** Validates a large value: an object, a map or a list. */
  *#checkTypeSliced(schema: Schema, { value, path, previous }: Judged): Generator<void, void> {
    if (schema.type === 'map' && isObject(value)) yield* this.#checkMapSliced(schema, { value, path, previous })
    else if (schema.type === 'list' && Array.isArray(value))
      yield* this.#checkListSliced(schema, { value, path, previous })
    else if (schema.type === 'object' && isObject(value) && !schema.unvalidated) {
      const judged = judgedObject(
        schema,
        { value, previous, path: schema.faultsAt?.(path, this.#context) ?? path },
        this.#context,
      )
      for (const checked of checkedFields(schema).of(value)) {
        const item = this.#partOf(judged, checked)
        if (item !== undefined) yield* this.checkSliced(checked.field.schema, fieldOf(judged, checked.name, item))
      }
      this.#checkChosen(judged)
    }
  }

  #checkObject(schema: ObjectSchema, { value, path, previous }: Judged & { readonly value: JsonObject }): void {
    const judged = judgedObject(schema, { value, path, previous }, this.#context)
    for (const checked of checkedFields(schema).of(value)) {
      const item = this.#partOf(judged, checked)
      if (item !== undefined) this.check(checked.field.schema, fieldOf(judged, checked.name, item))
    }
    this.#checkChosen(judged)
  }

  /**
   * Returns the value of a field if the value needs validation. Reports a required field that is missing, and every set
   * field of a choice after the first.
   */
  #partOf(judged: JudgedObject, checked: CheckedField): Json | undefined {
    const { value, path, choice, setFields, unvalidated } = judged
    const { name, field, hasRules } = checked
    const item = own(value, name)
    if (setFields.length > 1 && setFields.indexOf(name) > 0)
      this.errors.push(forbidden(child(path, name), `may not specify more than 1 ${choice?.noun}`))
    else if (field.required && isMissing(item)) this.errors.push(required(child(path, name)))
    else if (hasRules && item !== undefined && !isUnsent(item, field) && !unvalidated?.includes(name)) return item
    return undefined
  }

  #checkChosen({ path, choice, setFields }: JudgedObject): void {
    if (choice && setFields.length === 0) this.errors.push(required(path, `must specify a ${choice.noun}`))
  }

  #checkMap(schema: MapSchema, { value, path, previous }: Judged & { readonly value: JsonObject }): void {
    const looksInto = hasRules(schema.values)
    const before = membersBefore(schema, previous)
    for (const key of Object.keys(value)) {
      if (this.errors.length >= maxFaults) return
      const place = this.#checkKey(schema, key, path)
      if (looksInto)
        this.check(schema.values, { value: value[key]!, path: place, previous: before && own(before, key) })
    }
  }

  *#checkMapSliced(
    schema: MapSchema,
    { value, path, previous }: Judged & { readonly value: JsonObject },
  ): Generator<void, void> {
    const looksInto = hasRules(schema.values)
    const before = membersBefore(schema, previous)
    let entries = 0
    for (const key of Object.keys(value)) {
      if (this.errors.length >= maxFaults) return
      if (++entries % partsPerSlice === 0) yield* this.#rest()
      const place = this.#checkKey(schema, key, path)
      if (looksInto)
        yield* this.checkSliced(schema.values, {
          value: value[key]!,
          path: place,
          previous: before && own(before, key),
        })
    }
  }

  /** Validates the key and returns the path of its value. */
  #checkKey(schema: MapSchema, key: string, path: FieldPath): FieldPath {
    const place = schema.lenient ? child(path, key) : at(path, key)
    for (const text of schema.key?.(key) ?? []) this.errors.push(invalid(place, key, text))
    return place
  }

  #checkList(schema: ListSchema, { value, path, previous }: Judged & { readonly value: Json[] }): void {
    if (schema.unique) this.#checkUnique(schema, value, path)
    if (!hasRules(schema.items)) return
    const before = elementsBefore(schema, previous)
    for (const [i, item] of value.entries())
      this.check(schema.items, { value: item, path: this.#elementPath(schema, path, i), previous: before?.(item) })
  }

  *#checkListSliced(
    schema: ListSchema,
    { value, path, previous }: Judged & { readonly value: Json[] },
  ): Generator<void, void> {
    if (schema.unique) this.#checkUnique(schema, value, path)
    if (!hasRules(schema.items)) return
    const before = elementsBefore(schema, previous)
    for (const [i, item] of value.entries()) {
      if (i % partsPerSlice === 0) yield* this.#rest()
      const place = this.#elementPath(schema, path, i)
      yield* this.checkSliced(schema.items, { value: item, path: place, previous: before?.(item) })
    }
  }

  #checkUnique(schema: ListSchema, value: Json[], path: FieldPath): void {
    const seen = new Set<string>()
    for (const [i, item] of value.entries()) {
      const identity = identityOf(schema, item)
      if (seen.has(identity)) this.errors.push(duplicate(at(path, i), item))
      seen.add(identity)
    }
  }
}

/** Returns the members of the previous value, or undefined if the value must be compared as a whole. */
function membersBefore({ atomic }: { readonly atomic?: boolean }, previous: Json | undefined): JsonObject | undefined {
  return isObject(previous) && !atomic ? previous : undefined
}

function fieldOf({ path, before }: JudgedObject, name: string, value: Json): Judged {
  return { value, path: child(path, name), previous: before && own(before, name) }
}

/**
 * Returns a function that finds the previous element for an element of a keyed list. Elements of other lists have no
 * identity.
 */
function elementsBefore(schema: ListSchema, previous: Json | undefined) {
  if (schema.list !== 'map' || !Array.isArray(previous)) return undefined
  const previousItems = new Map(previous.map((item) => [identityOf(schema, item), item]))
  return (item: Json) => previousItems.get(identityOf(schema, item))
}

/** An object whose fields are being validated, with the state of its validation. */
interface JudgedObject {
  readonly value: JsonObject
  readonly path: FieldPath
  readonly choice: Choice | undefined
  /** Names of the fields in the choice that have a value. Only one of the fields may have a value. */
  readonly setFields: readonly string[]
  readonly unvalidated: readonly string[] | undefined
  /** Members of the previous object, or undefined if unknown. */
  readonly before: JsonObject | undefined
}

function judgedObject(
  schema: ObjectSchema,
  { value, path, previous }: Judged & { readonly value: JsonObject },
  context: RuleContext,
): JudgedObject {
  const { choice } = schema
  const setFields = choice ? membersIn(value, choice) : []
  const unvalidated = schema.fieldsToSkip?.(value, context)
  return { value, path, choice, setFields, unvalidated, before: membersBefore(schema, previous) }
}

function membersIn(value: JsonObject, { among }: Choice): string[] {
  const present = Object.keys(value).filter((name) => value[name] !== undefined && among.includes(name))
  return present.length < 2 ? present : among.filter((name) => present.includes(name))
}

function isMissing(item: Json | undefined): boolean {
  return item === undefined || item === '' || item === null
}

/** Whether the decoder itself added the empty string, because the field is always written. */
function isUnsent(item: Json, field: Field): boolean {
  return item === '' && field.zeroValue === 'write'
}

/** Returns an element's identity in a set or keyed list, as a string for comparison. */
function identityOf(schema: ListSchema, item: Json): string {
  if (schema.list === 'set' || !isObject(item)) return valueText(item)
  return valueText(schema.keys?.map((key) => own(item, key) ?? null) ?? [])
}

function valueText(value: Json): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item))
}
