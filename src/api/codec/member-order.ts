/**
 * The order of members in JSON: those of a type that the server defines stand in the order of its fields, those of a map
 * in the byte order of their keys. So do those of everything that is not described here: what users define, and values
 * of any form, but for one whose owner compares its text, which stays as it was sent.
 *
 * Decoding makes objects in the order of their fields already, so that all there is to do is to see that it is kept.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { compareUtf8, sortUtf8 } from '../../base/collections/utf8-order.ts'
import type { JsonObject } from '../json/json.ts'
import { profileNames, vendorOf } from '../model/vendor.ts'
import type { AnySchema, ObjectSchema, Schema } from '../schema/schema.ts'

/** By what a value is written; undefined: in byte order, on every level. */
export type Order = Schema | undefined

export interface Place {
  readonly rank: number
  /** By what the value of the member is written. */
  readonly order: Order
}

/** The places of the members of one object. */
export interface MemberOrder {
  /** By name, for a type that the server defines; else byte order counts. */
  readonly fields: ReadonlyMap<string, Place> | undefined
  /** By what the values of all other members are written. */
  readonly values: Order
  /** They stay as they are. */
  readonly asSent?: boolean
}

const inBytes: MemberOrder = { fields: undefined, values: undefined }

export function memberOrder(order: Order): MemberOrder {
  if (order?.type === 'any') return freeOrder(order)
  return order?.type === 'object' || order?.type === 'map' ? describedOrder(order) : inBytes
}

/** A value that is kept as it is may still be of a type that is described. */
function freeOrder(schema: AnySchema): MemberOrder {
  const { described, alternatives, asSent } = schema
  if (asSent) return { fields: undefined, values: schema, asSent }
  if (alternatives !== undefined) return memberOrder(alternatives.object.schema)
  return described === undefined ? inBytes : describedOrder(inAnyProfile(described))
}

/** The vendor's own fields have other names in each profile, and the same places. */
const inAnyProfile = memoizeByObject((described: NonNullable<AnySchema['described']>): ObjectSchema => {
  const types = profileNames.map((profile) => described(vendorOf(profile)))
  return { ...types[0]!, fields: Object.assign({}, ...types.map(({ fields }) => fields)) }
})

const describedOrder = memoizeByObject((schema: Extract<Schema, { type: 'object' | 'map' }>): MemberOrder => {
  if (schema.type === 'map') return { fields: undefined, values: schema.values }
  return { fields: placesOf(schema), values: undefined }
})

function placesOf({ fields }: ObjectSchema): ReadonlyMap<string, Place> {
  return new Map(Object.entries(fields).map(([name, { schema }], rank) => [name, { rank, order: schema }]))
}

/** By what the value of this member is written. */
export function orderBelow({ fields, values }: MemberOrder, key: string): Order {
  return fields === undefined ? values : fields.get(key)?.order
}

/** By what the elements of a list are written. */
export function elementOrder(order: Order): Order {
  if (order?.type === 'any') return order.asSent ? order : order.alternatives?.list?.items
  return order?.type === 'list' ? order.items : undefined
}

/** The keys of an object in the order in which they are written. Members that its type does not know come last. */
export function keysInOrder(object: JsonObject, { fields, asSent }: MemberOrder): string[] {
  const keys = Object.keys(object)
  if (asSent) return keys
  if (fields === undefined) return sortUtf8(keys)
  // As nearly all are: they were decoded so.
  if (areInOrder(keys, fields)) return keys
  const known: string[] = []
  for (const name of fields.keys()) if (Object.hasOwn(object, name)) known.push(name)
  if (known.length === keys.length) return known
  return [...known, ...sortUtf8(keys.filter((key) => !fields.has(key)))]
}

function areInOrder(keys: readonly string[], fields: ReadonlyMap<string, Place>): boolean {
  let last = -1
  for (const key of keys) {
    const place = fields.get(key)
    if (place === undefined || place.rank < last) return false
    last = place.rank
  }
  return true
}

/** Whether a member is written before another that its type knows. */
export function isBefore({ fields }: MemberOrder, key: string, other: string): boolean {
  if (fields === undefined) return compareUtf8(key, other) < 0
  return (fields.get(key)?.rank ?? fields.size) < fields.get(other)!.rank
}
