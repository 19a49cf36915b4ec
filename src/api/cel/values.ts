/**
 * CEL values, which are represented by JavaScript types where possible. An int is a number if a number can represent
 * the int exactly, and a bigint otherwise. A double therefore needs a separate class. Lists and maps are abstract
 * classes. The implementations for JSON data decode only the parts that a rule accesses (json-values.ts).
 */
import type { CelType } from './types.ts'

/** A CEL double. A plain JavaScript number represents an int instead. */
export class Double {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** An unsigned integer. */
export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** A CEL timestamp. */
export class Timestamp {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A duration, which may be negative. */
export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A parsed URL, the result of the CEL function `url`. */
export class UrlValue {
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly path: string
  readonly query: string

  constructor(parts: { readonly [part in keyof UrlValue]: UrlValue[part] }) {
    this.text = parts.text
    this.scheme = parts.scheme
    this.host = parts.host
    this.hostname = parts.hostname
    this.port = parts.port
    this.path = parts.path
    this.query = parts.query
  }
}

/** A CEL optional, which may have no value. */
export class Optional {
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

/** The empty CEL optional. */
export const none = new Optional(undefined)

/** A CEL value that only functions can create and read, such as a quantity. */
export abstract class Opaque {
  abstract readonly kind: CelType['kind']
  /** Canonical text. Values of the same kind are equal if and only if their texts are equal. */
  abstract readonly text: string
}

/** A CEL list. Subclasses decode elements on demand. */
export abstract class CelList {
  abstract readonly size: number
  abstract get(index: number): Value
  abstract toArray(): Value[]

  *[Symbol.iterator](): Generator<Value> {
    for (let i = 0; i < this.size; i++) yield this.get(i)
  }
}

export class ArrayList extends CelList {
  readonly #items: readonly Value[]

  constructor(items: readonly Value[]) {
    super()
    this.#items = items
  }

  get size(): number {
    return this.#items.length
  }

  get(index: number): Value {
    return this.#items[index]!
  }

  toArray(): Value[] {
    return [...this.#items]
  }
}

/** A CEL map. Subclasses decode values on demand. */
export abstract class CelMap {
  abstract readonly size: number
  /** Returns the value of a key, or undefined if the key is absent. */
  abstract get(key: Value): Value | undefined

  /** Whether the map contains a key. Implements the macro `has()`. */
  has(key: Value): boolean {
    return this.get(key) !== undefined
  }

  abstract keys(): readonly Value[]
}

/**
 * A map that an expression creates. Keys of different types are distinct, except that equal numbers are the same key.
 */
export class LiteralMap extends CelMap {
  readonly #entries = new Map<string, readonly [Value, Value]>()

  constructor(entries: Iterable<readonly [Value, Value]>) {
    super()
    for (const [key, value] of entries) this.#entries.set(keyText(key), [key, value])
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyText(key))?.[1]
  }

  keys(): readonly Value[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
}

/** An object that an expression creates, such as `Object.spec{replicas: 3}`. */
export class StructValue extends CelMap {
  readonly name: string
  readonly #fields: ReadonlyMap<string, Value>

  constructor(name: string, fields: ReadonlyMap<string, Value>) {
    super()
    this.name = name
    this.#fields = fields
  }

  get size(): number {
    return this.#fields.size
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.#fields.get(key) : undefined
  }

  keys(): readonly string[] {
    return [...this.#fields.keys()]
  }
}

function keyText(key: Value): string {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (key instanceof Uint || key instanceof Double) return `n${key.value}`
  return `n${key}`
}

export type Int = number | bigint

/** Any CEL value. */
export type Value =
  | null
  | boolean
  | Int
  | string
  | Double
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | TypeValue
  | UrlValue
  | Optional
  | Opaque
  | CelList
  | CelMap

/** An evaluation error. The operators `&&` and `||` can ignore an operand whose evaluation fails. */
export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export const maxInt = 2n ** 63n - 1n
export const minInt = -(2n ** 63n)

/** Converts a bigint to a CEL int. Throws an error if the value exceeds 64 bits. */
export function toInt(value: bigint): Int {
  if (value > maxInt || value < minInt) throw new CelError('integer overflow')
  const small = Number(value)
  return Number.isSafeInteger(small) ? small : value
}

type KindName = CelType['kind']

/** Returns the type kind of a value. */
export function kindOf(value: Value): KindName {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return 'int'
    default:
      return kindOfObject(value)
  }
}

const classes: readonly (readonly [abstract new (...args: never[]) => object, KindName])[] = [
  [CelList, 'list'],
  [CelMap, 'map'],
  [Double, 'double'],
  [Uint, 'uint'],
  [Uint8Array, 'bytes'],
  [Timestamp, 'timestamp'],
  [Duration, 'duration'],
  [TypeValue, 'type'],
  [UrlValue, 'url'],
  [Optional, 'optional'],
]

function kindOfObject(value: object | null): KindName {
  if (value === null) return 'null_type'
  if (value instanceof Opaque) return value.kind
  for (const [type, kind] of classes) if (value instanceof type) return kind
  throw new TypeError('the value is not a CEL value')
}
