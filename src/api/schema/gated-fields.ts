/**
 * Before an object is stored, drops the fields whose feature gate is disabled, as kube-apiserver does. A field is
 * preserved if the stored object already uses the same field anywhere, because the gate may have been enabled when that
 * object was written. Unlike kube-apiserver, the server warns the client. The schema declares these fields with the
 * option `gate`.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import { at, child, type FieldPath } from '../model/field-error.ts'
import { gateNames, isGateEnabled } from '../versions/availability.ts'
import type { Gates } from '../versions/feature-gates.ts'
import { emulationOf, isSince, type PrepareContext, type RuleContext } from './context.ts'
import type { Field, Fields, ObjectSchema, Schema } from './schema.ts'

/** Removes the fields of disabled features from `object`, in place, and reports them. */
export function dropGatedFields(
  schema: ObjectSchema,
  { object, previous }: { readonly object: Json; readonly previous: Json | undefined },
  context: RuleContext & Partial<PrepareContext>,
): void {
  const finder = finderOf(emulationOf(context).gates)
  const isDropped = ({ field: { gateDrops } }: GatedValue) => {
    if (gateDrops === undefined) return true
    if (gateDrops === 'main') return context.subresource === ''
    if (gateDrops === 'onCreate') return previous === undefined
    return gateDrops !== 'never' && isSince(gateDrops, context)
  }
  const present = [...finder.find(schema, object, { path: '' })].filter(isDropped)
  if (present.length === 0) return
  const stored = previous === undefined ? [] : [...finder.find(schema, previous, { path: '' })]
  const inUse = new Set(stored.map(({ field }) => field))
  for (const { owner, name, field, path, dropOwner } of present) {
    if (inUse.has(field)) continue
    delete owner[name]
    if (field.dropsEmptyOwner && Object.keys(owner).length === 0) dropOwner?.()
    context.onDropped?.({ path, feature: gateNames(field.gate!).join(' or ') })
  }
}

/** The location of a value: its path, and how to remove it. */
interface Place {
  readonly path: FieldPath
  /** Removes the whole object that contains the value. Undefined unless that object is itself the value of a field. */
  readonly dropOwner?: () => void
}

/** A value in a field whose feature gate is disabled. */
interface GatedValue extends Place {
  readonly owner: JsonObject
  readonly name: string
  readonly field: Field
}

/** Fields of a type that the search must visit: those that are disabled, and those that may contain disabled fields. */
interface GatedParts {
  readonly disabled: readonly NamedField[]
  readonly below: readonly NamedField[]
}

interface NamedField {
  readonly name: string
  readonly field: Field
}

/**
 * Finds the fields of disabled features. The types that contain such fields are cached, so that all other types can be
 * skipped at no cost.
 */
class GatedFieldFinder {
  readonly #gates: Gates
  readonly #concerned = new WeakMap<Schema, boolean>()
  readonly #parts = memoizeByObject(({ fields, keepsDisabledFields }: ObjectSchema): GatedParts => {
    const all = Object.entries(fields as Fields).map(([name, field]) => ({ name, field }))
    const isDisabled = ({ field }: NamedField) => keepsDisabledFields === undefined && this.#isDisabled(field)
    return {
      disabled: all.filter(isDisabled),
      below: all.filter((each) => !isDisabled(each) && this.#concerns(each.field.schema)),
    }
  })

  constructor(gates: Gates) {
    this.#gates = gates
  }

  /** Yields all fields in a value that belong to disabled features. */
  *find(schema: Schema, value: Json, place: Place): Generator<GatedValue, void> {
    if (!this.#concerns(schema)) return
    const { path } = place
    if (schema.type === 'list' && Array.isArray(value))
      for (const [i, item] of value.entries()) yield* this.find(schema.items, item, { path: at(path, i) })
    else if (schema.type === 'map' && isObject(value))
      for (const [key, item] of Object.entries(value)) yield* this.find(schema.values, item!, { path: at(path, key) })
    else if (schema.type === 'object' && isObject(value)) yield* this.#findIn(schema, value, place)
  }

  *#findIn(schema: ObjectSchema, value: JsonObject, { path, dropOwner }: Place): Generator<GatedValue, void> {
    const { disabled, below } = this.#parts(schema)
    for (const { name, field } of disabled)
      if (own(value, name) !== undefined)
        yield { owner: value, name, field, path: child(path, name), ...(dropOwner === undefined ? {} : { dropOwner }) }
    for (const { name, field } of below) {
      const inner = own(value, name)
      if (inner === undefined || inner === null) continue
      yield* this.find(field.schema, inner, { path: child(path, name), dropOwner: () => delete value[name] })
    }
  }

  /** Whether the type contains disabled fields at any depth. */
  #concerns(schema: Schema): boolean {
    if (schema.type === 'list') return this.#concerns(schema.items)
    if (schema.type === 'map') return this.#concerns(schema.values)
    if (schema.type !== 'object' || schema.keepsDisabledFields === 'all') return false
    let isConcerned = this.#concerned.get(schema)
    if (isConcerned === undefined) {
      const { disabled, below } = this.#parts(schema)
      isConcerned = disabled.length > 0 || below.length > 0
      this.#concerned.set(schema, isConcerned)
    }
    return isConcerned
  }

  #isDisabled({ gate }: Field): boolean {
    return gate !== undefined && !isGateEnabled(gate, this.#gates)
  }
}

const finderOf = memoizeByObject((gates: Gates) => new GatedFieldFinder(gates))
