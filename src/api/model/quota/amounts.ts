/** Arithmetic on resource amounts, keyed by the names used in quotas, such as `requests.cpu` or `count/configmaps`. */
import { own } from '../../json/json.ts'
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../quantity.ts'

/** Parsed amounts by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>

/** Amounts as strings, as they appear in objects. */
export interface WrittenAmounts {
  readonly [name: string]: string
}

export const one: Quantity = { nanos: 1_000_000_000n, form: 'decimal' }
const none: Quantity = { nanos: 0n, form: 'decimal' }

/** Returns a quantity of the given number of whole units. */
export function wholes(count: number): Quantity {
  return { nanos: BigInt(count) * one.nanos, form: 'decimal' }
}

/** Parses the amounts of an object. Invalid quantities count as zero, but validated objects do not contain any. */
export function readAmounts(written: WrittenAmounts = {}): Map<string, Quantity> {
  return new Map(Object.keys(written).map((name) => [name, readAmount(written, name) ?? none]))
}

/** Returns one quantity from a list of amounts, or undefined if it is absent or malformed. */
export function readAmount(written: WrittenAmounts | undefined, name: string): Quantity | undefined {
  const text = written && own(written, name)
  return typeof text === 'string' ? parseQuantity(text) : undefined
}

/** Returns the amounts as strings, as they appear in objects. */
export function writeAmounts(amounts: Amounts): { [name: string]: string } {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]))
}

/** Adds two sets of amounts. */
export function add(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a)
  addTo(sum, b)
  return sum
}

/** Adds the second list of amounts to the first, in place. */
export function addTo(sum: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) sum.set(name, addQuantities(sum.get(name) ?? none, amount))
}

/** Negates all amounts. */
export function negative(amounts: Amounts): Map<string, Quantity> {
  return new Map([...amounts].map(([name, { nanos, form }]) => [name, { nanos: -nanos, form }]))
}

/** Replaces each amount in `result` with the same resource's amount in `amounts` if that amount is larger. */
export function raiseTo(result: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const currentAmount = result.get(name)
    if (currentAmount === undefined || compareQuantities(currentAmount, amount) < 0) result.set(name, amount)
  }
}

/** Returns only the amounts of the named resources. */
export function only(amounts: Amounts, names: WrittenAmounts): Map<string, Quantity> {
  return new Map([...amounts].filter(([name]) => Object.hasOwn(names, name)))
}

/** Returns only the amounts above zero. */
export function above(amounts: Amounts): Map<string, Quantity> {
  return new Map([...amounts].filter(([, { nanos }]) => nanos > 0n))
}

/** Returns the amount, or zero if the amount is negative, because usage cannot be negative. */
export function atLeastNone(amount: Quantity): Quantity {
  return amount.nanos < 0n ? none : amount
}

/** Formats amounts sorted by name, for example as `limits.memory=1Gi,requests.cpu=600m`. */
export function describe(amounts: Amounts): string {
  return [...amounts.keys()]
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name)!)}`)
    .join(',')
}
