/** Amounts of resources by name, as quotas reckon with them: `requests.cpu`, `count/configmaps`. */
import { own } from '../../json/json.ts'
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../quantity.ts'

/** Quantities by the names of their resources. */
export type Amounts = ReadonlyMap<string, Quantity>

/** Amounts as they are written in objects. */
export interface WrittenAmounts {
  readonly [name: string]: string
}

export const one: Quantity = { nanos: 1_000_000_000n, form: 'decimal' }
const none: Quantity = { nanos: 0n, form: 'decimal' }

/** So many whole things. */
export function wholes(count: number): Quantity {
  return { nanos: BigInt(count) * one.nanos, form: 'decimal' }
}

/** What is no quantity counts as nothing: a validated object holds no such text. */
export function readAmounts(written: WrittenAmounts = {}): Map<string, Quantity> {
  return new Map(Object.keys(written).map((name) => [name, readAmount(written, name) ?? none]))
}

/** One quantity of a written list; undefined where it is absent or malformed. */
export function readAmount(written: WrittenAmounts | undefined, name: string): Quantity | undefined {
  const text = written && own(written, name)
  return typeof text === 'string' ? parseQuantity(text) : undefined
}

/** The amounts as objects carry them. */
export function writeAmounts(amounts: Amounts): { [name: string]: string } {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]))
}

/** The sum of two amounts. */
export function add(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a)
  addTo(sum, b)
  return sum
}

/** The same into the first. */
export function addTo(sum: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) sum.set(name, addQuantities(sum.get(name) ?? none, amount))
}

/** The amounts with the opposite sign. */
export function negative(amounts: Amounts): Map<string, Quantity> {
  return new Map([...amounts].map(([name, { nanos, form }]) => [name, { nanos: -nanos, form }]))
}

/** Raises the first to the second where that is larger. */
export function raiseTo(result: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const known = result.get(name)
    if (known === undefined || compareQuantities(known, amount) < 0) result.set(name, amount)
  }
}

/** Those whose names are in the list. */
export function only(amounts: Amounts, names: WrittenAmounts): Map<string, Quantity> {
  return new Map([...amounts].filter(([name]) => Object.hasOwn(names, name)))
}

/** Those above zero. */
export function above(amounts: Amounts): Map<string, Quantity> {
  return new Map([...amounts].filter(([, { nanos }]) => nanos > 0n))
}

/** Never below zero: less than nothing cannot be in use. */
export function atLeastNone(amount: Quantity): Quantity {
  return amount.nanos < 0n ? none : amount
}

/** `limits.memory=1Gi,requests.cpu=600m`: in the order of the names. */
export function describe(amounts: Amounts): string {
  return [...amounts.keys()]
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name)!)}`)
    .join(',')
}
