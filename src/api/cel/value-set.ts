/**
 * A set of CEL values, compared with CEL equality. Scalars are found by a key in constant time. Lists and maps are
 * compared one by one, and the budget limits these comparisons.
 */
import { equals } from './compare.ts'
import type { Run } from './overload.ts'
import {
  CelList,
  CelMap,
  Double,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

export class ValueSet {
  readonly #run: Run
  readonly #keys = new Set<string>()
  /** Lists and maps, which have no key and are compared one by one. */
  readonly #others: Value[] = []

  constructor(run: Run, values: Iterable<Value>) {
    this.#run = run
    for (const value of values) this.add(value)
  }

  has(value: Value): boolean {
    this.#run.budget.work(1)
    const key = keyOf(value)
    return key === undefined ? this.#others.some((other) => equals(this.#run, other, value)) : this.#keys.has(key)
  }

  /** Adds a value and returns whether the value is new to the set. */
  add(value: Value): boolean {
    if (Number.isNaN(value instanceof Double ? value.value : 0)) return true
    if (this.has(value)) return false
    const key = keyOf(value)
    if (key === undefined) this.#others.push(value)
    else this.#keys.add(key)
    return true
  }
}

/** Returns a key that is the same for equal values. Returns undefined for values that must be compared one by one. */
function keyOf(value: Value): string | undefined {
  if (typeof value === 'string') return `s${value}`
  if (value === null || typeof value === 'boolean') return `${value}`
  if (typeof value === 'number' || typeof value === 'bigint') return `n${value}`
  if (value instanceof Uint) return `n${value.value}`
  // In CEL, a double without a fraction is equal to the int with the same value.
  if (value instanceof Double) return Number.isInteger(value.value) ? `n${BigInt(value.value)}` : `n${value.value}`
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('base64')}`
  if (value instanceof Timestamp) return `t${value.nanos}`
  if (value instanceof Duration) return `d${value.nanos}`
  if (value instanceof TypeValue) return `y${value.name}`
  if (value instanceof Opaque) return `o${value.kind}:${value.text}`
  const isCompared = value instanceof CelList || value instanceof CelMap || value instanceof Optional
  return isCompared ? undefined : `u${value.text}`
}
