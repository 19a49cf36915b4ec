/** ResourceList: amounts by the name of a resource, such as `storage` or `cpu`. */
import { setKey } from '../../../json/json.ts'
import { formatQuantity, parseQuantity, roundUpToMilli } from '../../../model/quantity.ts'
import { type Infer, s } from '../../../schema/schema.ts'

export const resourceList = s.map(s.quantity())

export type ResourceList = Infer<typeof resourceList>

/** How every amount is spelt that is finer than thousandths: as a fraction, with an exponent, in billionths, millionths. */
const mayBeFine = /[.eEnu]/

/** Amounts of resources are kept in thousandths; finer ones are rounded up. Changes the list. */
export function roundResources(list: ResourceList = {}): void {
  for (const name of Object.keys(list)) {
    const text = list[name]!
    if (!mayBeFine.test(text)) continue
    const amount = parseQuantity(text)!
    const rounded = roundUpToMilli(amount)
    if (rounded.nanos !== amount.nanos) setKey(list, name, formatQuantity(rounded))
  }
}
