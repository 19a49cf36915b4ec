/** What the rules of a kind or type may need to know besides the value. */
import type { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Gates } from '../model/feature-gates.ts'
import type { User } from '../model/user.ts'
import type { Vendor } from '../model/vendor.ts'

/** What rules may depend on besides the object. */
export interface RuleContext {
  readonly vendor: Vendor
  /** The subresource that is written through; '' for the object itself. */
  readonly subresource: string
  /** The version that is written through, with the short id of its group: `core/v1`, `events/v1`. */
  readonly through?: string
  /** The features that are on. */
  readonly gates?: Gates
}

/** What rules that take long may need besides: how to let others have a turn. */
export interface JudgeContext extends RuleContext {
  readonly pace: TimeSlice
  /** Whether all other rules were complied with: some things can only be judged of a sound object. */
  readonly isSound: boolean
}

/** What rules that prepare an object for the store may need besides: who writes it, and when. */
export interface PrepareContext extends RuleContext {
  readonly user: User
  /** Whether the server itself writes it, and not a client. */
  readonly own?: boolean
  /** The wall clock in milliseconds. */
  readonly now: number
  /** Called for every field that the object loses because its feature is off. */
  readonly onDropped?: ((field: DroppedField) => void) | undefined
}

/** A field that was removed, and the feature gate that it needs. */
export interface DroppedField {
  readonly path: string
  readonly feature: string
}
