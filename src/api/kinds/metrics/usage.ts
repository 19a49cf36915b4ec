/** Fields shared by NodeMetrics and PodMetrics. */
import { addQuantities, formatQuantity, parseQuantity, type Quantity } from '../../model/quantity.ts'
import { field, s } from '../../schema/schema.ts'

export const measurementFields = {
  timestamp: field(2, s.time(), { zeroValue: 'write', doc: 'Time when the measurement ended.' }),
  window: field(3, s.string(), { zeroValue: 'write', doc: 'Duration of the measurement, for example `10s`.' }),
}

/** Resource usage, by resource name. */
export const usage = s.map(s.quantity())

type Usage = { readonly [resource: string]: string } | undefined

/** Returns the total usage of a resource across containers, for a table. */
export function sumOfUsage(all: readonly Usage[], resource: 'cpu' | 'memory'): string {
  const amounts = all.flatMap((each): Quantity[] => {
    const amount = parseQuantity(each?.[resource] ?? '')
    return amount === undefined ? [] : [amount]
  })
  const [first, ...others] = amounts
  return first === undefined ? '' : formatQuantity(others.reduce(addQuantities, first))
}
