/**
 * The Protobuf message of an object's schema: its fields by their numbers. Derived from the schema alone, once per
 * schema; writing (`write.ts`) and reading (`read.ts`) follow it.
 *
 * Protobuf and JSON differ in shape in two places. Fields that JSON has flat may stand in a message of their own
 * (`within`), such as the source of a volume; and a list that is the value of a map, or is `wrapped`, is a message whose
 * field 1 holds the elements, since neither a map nor the reference's `Verbs` can hold a bare list.
 */
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Vendor } from '../../model/vendor.ts'
import type { Field, Fields, ObjectSchema, Schema } from '../../schema/schema.ts'

export interface Message {
  /** In the order of their numbers, as they are written. */
  readonly parts: readonly Part[]
  readonly byNumber: ReadonlyMap<number, Part>
}

export type Part = MessageField | Inlined

export interface MessageField {
  readonly number: number
  readonly name: string
  readonly schema: Schema
  /**
   * Written even if it is absent or zero. So the reference does with every plain value whose absence is no statement of
   * its own, and with every object that JSON always shows; a field that tells zero from absent is written if it is there.
   */
  readonly always: boolean
  /** A zero says no more than absence, so that nothing is read of it. */
  readonly omitsZero: boolean
  readonly inlined?: undefined
}

/** A message whose fields JSON has in the object itself. */
export interface Inlined {
  readonly number: number
  readonly inlined: Message
}

export function messageOf({ fields }: ObjectSchema): Message {
  return messageWith(fields)
}

const messageWith = memoizeByObject((fields: Fields) =>
  layOut(Object.entries(fields).filter(([, { tag }]) => tag !== 0)),
)

type Entry = readonly [name: string, field: Field]

function layOut(entries: readonly Entry[]): Message {
  const own = entries.filter(([, { within }]) => within === undefined).map(toField)
  const inner = Map.groupBy(
    entries.filter(([, { within }]) => within !== undefined),
    ([, { within }]) => within!,
  )
  const inlined = [...inner].map(([number, group]) => ({ number, inlined: layOut(group.map(withoutWithin)) }))
  const parts = [...own, ...inlined].sort((a, b) => a.number - b.number)
  return { parts, byNumber: new Map(parts.map((part) => [part.number, part])) }
}

function withoutWithin([name, { within: _, ...field }]: Entry): Entry {
  return [name, field]
}

function toField([name, { tag, schema, zero }]: Entry): MessageField {
  return { number: tag, name, schema, always: isAlwaysWritten(schema, zero), omitsZero: zero === 'omit' }
}

function isAlwaysWritten({ type }: Schema, zero: Field['zero']): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'integer':
    case 'number':
      return zero !== 'keep'
    case 'object':
      return zero === 'write'
    case 'bytes':
    case 'time':
    case 'quantity':
    case 'intOrString':
    case 'any':
    case 'map':
    case 'list':
      return false
    default:
      return type satisfies never
  }
}

/** What is written and read of a value: JSON that is a message of its own is the message that its vendor describes. */
export function onWire(schema: Schema, vendor: Vendor | undefined): Schema {
  if (schema.type !== 'any' || schema.described === undefined) return schema
  if (vendor === undefined) throw new TypeError(`the message of ${schema.name} is that of a vendor`)
  return schema.described(vendor)
}
