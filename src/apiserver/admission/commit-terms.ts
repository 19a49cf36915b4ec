/** Conditions of a commit on other keys of the store, and its side effects on them. */

/** A key that must have this revision or must merely exist. The revision 0 means that the key must be absent. */
export interface Dependency {
  readonly key: string
  readonly revision: number | 'present'
}

/** A key to create, with its value. */
export interface ReservedKey {
  readonly key: string
  readonly value: Uint8Array
}

/** Keys to create and delete in the same commit. */
export interface KeyReservations {
  readonly reserves?: readonly ReservedKey[]
  readonly releases?: readonly string[]
}

/** Result of a successful write: whether the object exists afterwards. */
export type Ending = 'stored' | 'removed'
