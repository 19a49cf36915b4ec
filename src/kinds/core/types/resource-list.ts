/** ResourceList: amounts by the name of a resource, such as `storage` or `cpu`. */
import { setKey } from '../../../model/json.ts'
import { formatQuantity, parseQuantity, roundUpToMilli } from '../../../model/quantity.ts'
import { type Infer, s } from '../../../schema/schema.ts'

export const resourceList = s.map(s.quantity())

export type ResourceList = Infer<typeof resourceList>

/** Amounts of resources are kept in thousandths; finer ones are rounded up. Changes the list. */
export function roundResources(list: ResourceList = {}): void {
  for (const [name, text] of Object.entries(list)) {
    const amount = parseQuantity(text)!
    const rounded = roundUpToMilli(amount)
    if (rounded.nanos !== amount.nanos) setKey(list, name, formatQuantity(rounded))
  }
}
