/** Conditions and side effects of a commit on other keys of the store. */

/** A key that must have this revision (0 means absent), or must merely exist. */
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

/** Result of a successful write: the object exists afterwards, or it does not. */
export type Ending = 'stored' | 'removed'
