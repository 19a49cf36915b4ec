/**
 * Implements `--sort-by`, which sorts objects by one field. Compares numbers and quantities by value, and text in
 * natural order.
 */

import type { Json } from '../../../../api/json/json.ts'
import { parsePath, plainText, valuesAt } from '../../../../api/jsonpath/templates.ts'
import { parseQuantity } from '../../../../api/model/quantity.ts'
import { UsageError } from '../../../../base/flags/flags.ts'

/** Puts items without the field first. Throws UsageError if no item has the field. */
export function sortedBy<T>(items: readonly T[], path: string, objectOf: (item: T) => Json): T[] {
  if (items.length === 0) return []
  const steps = parsePath(path)
  const keyed = items.map((item) => ({ item, key: valuesAt(steps, objectOf(item))[0] }))
  if (keyed.every(({ key }) => key === undefined))
    throw new UsageError(`couldn't find any field with path ${JSON.stringify(path)} in the list of objects`)
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ item }) => item)
}

function compareKeys(a: Json | undefined, b: Json | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const x = numericValue(a)
  const y = numericValue(b)
  if (x !== undefined && y !== undefined) return x - y
  return natural(plainText(a), plainText(b))
}

function numericValue(value: Json): number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) * 1e9
  if (typeof value !== 'string' || !/^[\d.]/.test(value)) return undefined
  return quantityValue(value)
}

function quantityValue(text: string): number | undefined {
  const quantity = parseQuantity(text)
  return quantity === undefined ? undefined : Number(quantity.nanos)
}

/** Sorts `a2` before `a10`. */
function natural(a: string, b: string): number {
  const leftParts = partsOf(a)
  const right = partsOf(b)
  for (const [i, part] of leftParts.entries()) {
    const other = right[i]
    if (other === undefined) return 1
    const numbers = /^\d/.test(part) && /^\d/.test(other)
    const order = numbers ? Number(part) - Number(other) : part < other ? -1 : part > other ? 1 : 0
    if (order !== 0) return order
  }
  return leftParts.length - right.length
}

function partsOf(text: string): readonly string[] {
  return text.match(/\d+|\D+/g) ?? []
}
