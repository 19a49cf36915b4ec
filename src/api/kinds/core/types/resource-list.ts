/** ResourceList contains amounts by resource name, such as `storage` or `cpu`. */
import { setKey } from '../../../json/json.ts'
import { formatQuantity, parseQuantity, roundUpToMilli } from '../../../model/quantity.ts'
import { type Infer, s } from '../../../schema/schema.ts'

export const resourceList = s.map(s.quantity())

export type ResourceList = Infer<typeof resourceList>

/**
 * Matches amounts that may be more precise than a thousandth: those with a fraction, an exponent, or the suffix n or u.
 */
const mayBeFine = /[.eEnu]/

/** Rounds amounts up to whole thousandths. Modifies the list. */
export function roundResources(list: ResourceList = {}): void {
  for (const name of Object.keys(list)) {
    const text = list[name]!
    if (!mayBeFine.test(text)) continue
    const amount = parseQuantity(text)!
    const rounded = roundUpToMilli(amount)
    if (rounded.nanos !== amount.nanos) setKey(list, name, formatQuantity(rounded))
  }
}
