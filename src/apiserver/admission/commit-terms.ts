/** What the commit of a write rests on, and what it does in the same step to other keys of the store. */

/** A key that must be as it was: at this revision (0: absent), or merely there. */
export interface Dependency {
  readonly key: string
  readonly revision: number | 'present'
}

/** A key that is made, with its value. */
export interface TakenKey {
  readonly key: string
  readonly value: Uint8Array
}

/** Keys that come and go in the same step. */
export interface Claims {
  readonly takes?: readonly TakenKey[]
  readonly releases?: readonly string[]
}

/** How a write ends that happens: the object is there afterwards, or is not. */
export type Ending = 'stored' | 'removed'
