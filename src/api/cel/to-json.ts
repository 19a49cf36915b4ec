/**
 * Converts the result of an expression, for example the configuration that a mutation applies, to JSON. The size of the
 * JSON is limited, because an expression can refer to the same value many times.
 */
import { type Json, type JsonObject, setKey } from '../json/json.ts'
import { showDuration, showTimestamp } from './time-text.ts'
import {
  CelError,
  CelList,
  CelMap,
  Double,
  Duration,
  kindOf,
  StructValue,
  Timestamp,
  Uint,
  type Value,
} from './values.ts'

/** Limits on the JSON form of a result: its number of values, its length in characters and its depth. */
const maxValues = 200_000
const maxCharacters = 4_000_000
const maxDepth = 250

/** Number of values to convert before yielding. */
const valuesPerSlice = 5_000

/**
 * Converts a value to JSON and yields periodically. Throws CelError for a value that JSON cannot represent, and for an
 * object of the wrong type.
 */
export function* toJsonSliced(value: Value): Generator<void, Json> {
  return yield* new Conversion().convert(value, { typeName: undefined, depth: 0 })
}

interface Place {
  /**
   * The type name that an object must have at its position in the result. Undefined outside of objects with a named
   * type.
   */
  readonly typeName: string | undefined
  readonly depth: number
}

class Conversion {
  #values = 0
  #characters = 0

  #text(value: Value): string {
    if (typeof value !== 'string') throw new CelError(`map key must be a string, not ${kindOf(value)}`)
    this.#characters += value.length
    if (this.#characters > maxCharacters) throw new CelError('the result is too large')
    return value
  }

  *convert(value: Value, { typeName, depth }: Place): Generator<void, Json> {
    if (++this.#values > maxValues || depth > maxDepth) throw new CelError('the result is too large')
    if (this.#values % valuesPerSlice === 0) yield
    const inner = { typeName, depth: depth + 1 }
    if (value instanceof CelList) {
      const items: Json[] = []
      for (const item of value) items.push(yield* this.convert(item, inner))
      return items
    }
    if (value instanceof CelMap) {
      const object: JsonObject = {}
      const struct = value instanceof StructValue ? checkedName(value, typeName) : undefined
      for (const key of value.keys()) {
        const place = struct === undefined ? inner : { typeName: `${struct}.${key as string}`, depth: depth + 1 }
        setKey(object, this.#text(key), yield* this.convert(value.get(key)!, place))
      }
      return object
    }
    return typeof value === 'string' ? this.#text(value) : scalarOf(value)
  }
}

/**
 * Returns the type name of an object. Throws an error unless the name matches the path of the object, as in
 * `Object.spec{template: Object.spec.template{}}`.
 */
function checkedName({ name }: StructValue, expected = name): string {
  if (name === expected) return name
  throw new CelError(
    `type mismatch: unexpected type name "${name}", expected "${expected}", which matches field name path from root Object type`,
  )
}

function scalarOf(value: Value): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint')
    return value
  if (value instanceof Double && Number.isFinite(value.value)) return value.value
  if (value instanceof Uint) return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value
  if (value instanceof Timestamp) return showTimestamp(value)
  if (value instanceof Duration) return showDuration(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  throw new CelError(`a value of type ${kindOf(value)} cannot be converted to JSON`)
}
