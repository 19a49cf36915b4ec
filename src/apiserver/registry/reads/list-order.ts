/**
 * Defines the order of a sorted list: by the values of one or more fields, then by key. Objects without a value come
 * last. No two objects are equal in this order. The order depends only on the objects, so a later page can continue at
 * a position.
 */
import { ScalarFinder } from '../../../api/codec/cut-json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { type FieldSteps, fieldPathText, parseFieldPaths } from '../../../api/schema/field-path.ts'
import { findField } from '../../../api/schema/find-field.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import type { SortValue } from './continue-token.ts'

/** The sort values and the key of an object in a sorted list. */
export interface SortPosition {
  readonly values: readonly (SortValue | null)[]
  readonly key: string
}

/** A parsed `sort` parameter. */
export interface ListOrder {
  /** The text of the `sort` parameter. */
  readonly text: string
  /** Reads the values of the sort fields from an object's JSON. */
  readonly valuesOf: (json: Buffer) => (SortValue | null)[]
  /** Compares two positions. Returns a negative number if `a` comes before `b`. */
  readonly compare: (a: SortPosition, b: SortPosition) => number
}

interface SortField {
  readonly finder: ScalarFinder
  readonly read: (value: SortValue) => SortValue | null
  readonly sign: 1 | -1
}

const maxFields = 3
const maxOrderText = 500

/**
 * Maximum number of characters of a string to compare. The limit ensures that a position fits into a continue token.
 */
const maxComparedText = 128

/**
 * Parses a sort order such as `field,-field`. Throws 400 if a field is unknown or does not have a single simple value.
 */
export function parseListOrder(text: string, schema: Schema): ListOrder {
  if (text.length > maxOrderText) throw badRequest(`sort: must be at most ${maxOrderText} characters long`)
  const fields = parseFieldPaths(text, 'sort').map((steps) => sortField(steps, schema))
  if (fields.length > maxFields) throw badRequest(`sort: at most ${maxFields} fields are allowed`)
  return {
    text,
    valuesOf: (json) => fields.map(({ finder, read }) => readValue(finder.find(json), read)),
    compare: (a, b) => {
      for (const [i, { sign }] of fields.entries()) {
        const order = compareValues(a.values[i]!, b.values[i]!, sign)
        if (order !== 0) return order
      }
      return compareUtf8(a.key, b.key)
    },
  }
}

function sortField([first, ...rest]: FieldSteps, schema: Schema): SortField {
  const descends = first.startsWith('-')
  const steps: FieldSteps = [descends ? first.slice(1) : first, ...rest]
  const field = findField(schema, steps, 'sort')
  const { type } = field.schema
  if (field.isRepeated || type === 'object' || type === 'map' || type === 'list')
    throw badRequest(`sort: ${JSON.stringify(fieldPathText(steps))} does not have a single value to sort by`)
  return { finder: new ScalarFinder(steps), read: type === 'quantity' ? amountOf : shorten, sign: descends ? -1 : 1 }
}

function readValue(value: SortValue | undefined, read: SortField['read']): SortValue | null {
  return value === undefined ? null : read(value)
}

/** Converts a quantity to billionths for comparison, with the precision of a double. */
function amountOf(value: SortValue): number | null {
  const quantity = parseQuantity(String(value))
  return quantity === undefined ? null : Number(quantity.nanos)
}

function shorten(value: SortValue): SortValue {
  if (typeof value !== 'string' || value.length <= maxComparedText) return value
  // Copy the text, because a substring would keep the whole original string in memory.
  return Buffer.from(value.slice(0, maxComparedText)).toString()
}

function compareValues(a: SortValue | null, b: SortValue | null, sign: 1 | -1): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  if (typeof a !== typeof b) return sign * (typeRanks.indexOf(typeof a) - typeRanks.indexOf(typeof b))
  return a < b ? -sign : sign
}

const typeRanks = ['boolean', 'number', 'string']
