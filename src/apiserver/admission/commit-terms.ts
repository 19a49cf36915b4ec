/** Conditions that a commit places on other keys of the store, and the other keys that the commit writes. */

/** A key that must have the given revision, or that must merely exist. Revision 0 means that the key must be absent. */
export interface Dependency {
  readonly key: string
  readonly revision: number | 'present'
}

/** A key to create, with its value. */
export interface ReservedKey {
  readonly key: string
  readonly value: Uint8Array
}

/** Keys that the commit of an object also creates and deletes. */
export interface KeyReservations {
  readonly reserves?: readonly ReservedKey[]
  readonly releases?: readonly string[]
}

/** Result of a successful write: whether the object exists after the write. */
export type Ending = 'stored' | 'removed'
