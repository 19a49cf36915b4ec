/**
 * The Protobuf message of an object schema, with its fields by number. The message is derived from the schema once and
 * used for writing (`write.ts`) and reading (`read.ts`).
 *
 * The structure of a message differs from JSON in two cases. Fields that are inline in JSON, such as the source of a
 * volume, may be in a separate message (`within`). A list that is the value of a map, or that is marked `wrapped`, is
 * encoded as a message whose field 1 contains the elements, because a Protobuf map cannot contain lists.
 */
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Vendor } from '../../model/vendor.ts'
import type { Field, Fields, ObjectSchema, Schema } from '../../schema/schema.ts'

export interface Message {
  /** The fields and nested messages, sorted by number. They are encoded in this order. */
  readonly parts: readonly Part[]
  readonly byNumber: ReadonlyMap<number, Part>
}

export type Part = MessageField | Inlined

export interface MessageField {
  readonly number: number
  readonly name: string
  readonly schema: Schema
  /**
   * Whether the field is written even if it is absent or zero. Kubernetes always writes every plain value whose absence
   * means the same as zero, and every object that JSON always includes. A field that distinguishes zero from absent is
   * written only if it is present.
   */
  readonly always: boolean
  /** Whether zero has the same meaning as absent. If so, the decoder omits zeros. */
  readonly omitsZero: boolean
  readonly inlined?: undefined
}

/** A nested Protobuf message whose fields are inline in JSON. */
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
    ([, { within }]) => within![0]!,
  )
  const inlined = [...inner].map(([number, group]) => ({ number, inlined: layOut(group.map(withoutOutermost)) }))
  const parts = [...own, ...inlined].sort((a, b) => a.number - b.number)
  const byNumber = new Map(parts.map((part) => [part.number, part]))
  if (byNumber.size < parts.length) {
    const names = entries.map(([name]) => name).join(', ')
    throw new TypeError(`two fields have the same number: ${names}`)
  }
  return { parts, byNumber }
}

function withoutOutermost([name, { within = [], ...field }]: Entry): Entry {
  return [name, within.length > 1 ? { ...field, within: within.slice(1) } : field]
}

function toField([name, { tag, schema, zeroValue }]: Entry): MessageField {
  return { number: tag, name, schema, always: isAlwaysWritten(schema, zeroValue), omitsZero: zeroValue === 'omit' }
}

function isAlwaysWritten({ type }: Schema, zeroValue: Field['zeroValue']): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'integer':
    case 'number':
      return zeroValue !== 'keep'
    case 'object':
      return zeroValue === 'write'
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

/**
 * Returns the schema of a value's Protobuf encoding. For some values that have no schema in JSON, Protobuf has a typed
 * message, which depends on the vendor.
 */
export function onWire(schema: Schema, vendor: Vendor | undefined): Schema {
  if (schema.type !== 'any' || schema.described === undefined) return schema
  if (vendor === undefined) throw new TypeError(`cannot choose the Protobuf message of ${schema.name} without a vendor`)
  return schema.described(vendor)
}
