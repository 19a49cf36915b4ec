/**
 * Declares the preconditions of a commit on other keys in the store, and the additional keys that the commit creates or
 * deletes.
 */

/** A key that must have the given revision or merely exist. Revision 0 means that the key must be absent. */
export interface Dependency {
  readonly key: string
  readonly revision: number | 'present'
}

/** A key to create, with its value. */
export interface ReservedKey {
  readonly key: string
  readonly value: Uint8Array
}

/** Keys that a commit creates (`reserves`) and deletes (`releases`) together with the object's own key. */
export interface KeyReservations {
  readonly reserves?: readonly ReservedKey[]
  readonly releases?: readonly string[]
}

/** The outcome of a successful write: the object was stored or removed. */
export type Ending = 'stored' | 'removed'
