/** What the rules of a kind or type may need to know besides the value. */
import type { Vendor } from '../model/vendor.ts'

export interface RuleContext {
  readonly vendor: Vendor
  /** The subresource that is written through; '' for the object itself. */
  readonly subresource: string
}
