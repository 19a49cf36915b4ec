/**
 * Converts the result of an expression to JSON, such as the configuration that a mutation applies. The size of the
 * result is bounded: an expression can refer to one value many times.
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

/** Maximum number of values, maximum number of characters and maximum depth of a result. */
const maxValues = 200_000
const maxCharacters = 4_000_000
const maxDepth = 250

/** Number of values between two yields. */
const valuesPerSlice = 5_000

/**
 * Converts a value to JSON and yields periodically. Throws CelError for a value that JSON cannot represent, and for an
 * object of a wrong type.
 */
export function* toJsonSliced(value: Value): Generator<void, Json> {
  return yield* new Conversion().convert(value, { typeName: undefined, depth: 0 })
}

interface Place {
  /** The name that the type of an object must have at this position. Undefined outside of objects with a named type. */
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
 * Returns the checked name of an object's type. The name must match the path of the object: `Object.spec{template:
 * Object.spec.template{}}`.
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
