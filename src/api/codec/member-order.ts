/**
 * The order of members in JSON objects. Types that the server defines use the order of their fields. Maps and values
 * without a schema, such as custom resources, use the byte order of their keys. Values whose exact text matters keep
 * their members in the order in which the client sent them.
 *
 * Decoding already creates objects in field order, so objects rarely need to be sorted.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { compareUtf8, sortUtf8 } from '../../base/collections/utf8-order.ts'
import type { JsonObject } from '../json/json.ts'
import { profileNames, vendorOf } from '../model/vendor.ts'
import type { AnySchema, ObjectSchema, Schema } from '../schema/schema.ts'

/** The schema that defines the order of members. Without a schema, members are ordered by their UTF-8 bytes. */
export type Order = Schema | undefined

export interface Place {
  readonly rank: number
  /** The order of members within the value of this member. */
  readonly order: Order
}

/** The output order of an object's members. */
export interface MemberOrder {
  /** The fields by name, for a type that the server defines. Undefined means byte order. */
  readonly fields: ReadonlyMap<string, Place> | undefined
  /** The order of members within the value of any member that `fields` does not contain. */
  readonly values: Order
  /** Whether to keep the members in the order in which the client sent them. */
  readonly asSent?: boolean
}

const inBytes: MemberOrder = { fields: undefined, values: undefined }

export function memberOrder(order: Order): MemberOrder {
  if (order?.type === 'any') return freeOrder(order)
  return order?.type === 'object' || order?.type === 'map' ? describedOrder(order) : inBytes
}

/**
 * Returns the member order of a value without a schema of its own. The published description of the value may still
 * define an order.
 */
function freeOrder(schema: AnySchema): MemberOrder {
  const { described, alternatives, asSent } = schema
  if (asSent) return { fields: undefined, values: schema, asSent }
  if (alternatives !== undefined) return memberOrder(alternatives.object.schema)
  return described === undefined ? inBytes : describedOrder(inAnyProfile(described))
}

/**
 * Combines the fields of all profiles. Fields whose names contain the vendor's prefix differ in name but have the same
 * positions.
 */
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

/** Returns the order that applies inside the value of a member. */
export function orderBelow({ fields, values }: MemberOrder, key: string): Order {
  return fields === undefined ? values : fields.get(key)?.order
}

/** Returns the order that applies to the elements of a list. */
export function elementOrder(order: Order): Order {
  if (order?.type === 'any') return order.asSent ? order : order.alternatives?.list?.items
  return order?.type === 'list' ? order.items : undefined
}

/** Returns the keys of an object in output order. Keys that the type does not define come last. */
export function keysInOrder(object: JsonObject, { fields, asSent }: MemberOrder): string[] {
  const keys = Object.keys(object)
  if (asSent) return keys
  if (fields === undefined) return sortUtf8(keys)
  // Fast path: decoding already creates members in this order.
  if (areInOrder(keys, fields)) return keys
  const declaredKeys: string[] = []
  for (const name of fields.keys()) if (Object.hasOwn(object, name)) declaredKeys.push(name)
  if (declaredKeys.length === keys.length) return declaredKeys
  return [...declaredKeys, ...sortUtf8(keys.filter((key) => !fields.has(key)))]
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

/** Whether one member precedes another. The type must define `other`. */
export function isBefore({ fields }: MemberOrder, key: string, other: string): boolean {
  if (fields === undefined) return compareUtf8(key, other) < 0
  return (fields.get(key)?.rank ?? fields.size) < fields.get(other)!.rank
}
