/**
 * Formats JSON that may be large. The output is the same as that of `stringifyStored`, but the generator yields
 * periodically so that other work can run.
 */
import type { Json, JsonObject } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { stringifyStored } from './json.ts'
import { maxDepth, tooDeep } from './json-scan.ts'
import { elementOrder, keysInOrder, memberOrder, type Order, orderBelow } from './member-order.ts'

/** Formats a value that is `level` levels below the top of a stored object. */
export function* storedTextSliced(value: Json | undefined, order: Order, level: number): Generator<void, string> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) return stringifyStored(value, order, level)
  if (level >= maxDepth) throw tooDeep()
  yield
  return Array.isArray(value) ? yield* listSliced(value, order, level) : yield* objectSliced(value, order, level)
}

/**
 * Formats a value like `stringifyJson`, but yields periodically. The nesting is not limited, and lone surrogates are
 * accepted, because the text is not stored.
 */
export function textSliced(value: Json, order: Order): Generator<void, string> {
  return storedTextSliced(value, order, Number.NEGATIVE_INFINITY)
}

function* listSliced(items: Json[], order: Order, level: number): Generator<void, string> {
  const inner = elementOrder(order)
  let text = ''
  for (const [i, item] of items.entries()) {
    if (i % partsPerSlice === 0) yield
    text += (i === 0 ? '' : ',') + (yield* storedTextSliced(item, inner, level + 1))
  }
  return `[${text}]`
}

function* objectSliced(object: JsonObject, order: Order, level: number): Generator<void, string> {
  const members = memberOrder(order)
  let text = ''
  for (const [i, key] of keysInOrder(object, members).entries()) {
    if (i % partsPerSlice === 0) yield
    const value = object[key]
    if (value === undefined) continue
    const name = stringifyStored(key, undefined, level + 1)
    text += `${text === '' ? '' : ','}${name}:${yield* storedTextSliced(value, orderBelow(members, key), level + 1)}`
  }
  return `{${text}}`
}
