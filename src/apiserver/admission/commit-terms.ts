/** The other keys in the store that a commit depends on or writes. */

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

/** Keys that a commit creates or deletes together with the object. */
export interface KeyReservations {
  readonly reserves?: readonly ReservedKey[]
  readonly releases?: readonly string[]
}

/** Result of a successful write: whether the object exists after the write. */
export type Ending = 'stored' | 'removed'
