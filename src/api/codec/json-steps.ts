/**
 * Writes JSON that may be large: the same text as `stringifyStored`, but yields periodically so that other work can
 * run.
 */
import type { Json, JsonObject } from '../json/json.ts'
import { isLarge, partsPerStep } from '../json/large-json.ts'
import { stringifyStored } from './json.ts'
import { maxDepth, tooDeep } from './json-scan.ts'
import { elementOrder, keysInOrder, memberOrder, type Order, orderBelow } from './member-order.ts'

/** Writes a value of a stored object, `level` levels below its top. */
export function* storedTextSteps(value: Json | undefined, order: Order, level: number): Generator<void, string> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) return stringifyStored(value, order, level)
  if (level >= maxDepth) throw tooDeep()
  yield
  return Array.isArray(value) ? yield* listSteps(value, order, level) : yield* objectSteps(value, order, level)
}

function* listSteps(items: Json[], order: Order, level: number): Generator<void, string> {
  const inner = elementOrder(order)
  let text = ''
  for (const [i, item] of items.entries()) {
    if (i % partsPerStep === 0) yield
    text += (i === 0 ? '' : ',') + (yield* storedTextSteps(item, inner, level + 1))
  }
  return `[${text}]`
}

function* objectSteps(object: JsonObject, order: Order, level: number): Generator<void, string> {
  const members = memberOrder(order)
  let text = ''
  for (const [i, key] of keysInOrder(object, members).entries()) {
    if (i % partsPerStep === 0) yield
    const value = object[key]
    if (value === undefined) continue
    const name = stringifyStored(key, undefined, level + 1)
    text += `${text === '' ? '' : ','}${name}:${yield* storedTextSteps(value, orderBelow(members, key), level + 1)}`
  }
  return `{${text}}`
}
