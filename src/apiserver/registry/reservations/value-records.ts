/** Objects that stand for reserved values: the IPAddresses of Services. */
import type { ApiObject } from '../../../api/model/object.ts'
import type { Reservation } from '../../../api/schema/reservations.ts'
import type { Key, ReservedKey } from '../../../storage/store/store.ts'

/** Values that a write reserves and releases for an object. */
export interface HoldingChange {
  readonly added: readonly Reservation[]
  readonly removed: readonly Reservation[]
}

export interface ValueRecords {
  /** Whether an object stands for the value. */
  isTaken(reservation: Reservation): boolean
  /** Returns the objects to create and to delete together with a write of the holder. */
  changes(holder: ApiObject, change: HoldingChange): { reserves: ReservedKey[]; releases: Key[] }
  /** Returns the object that stands for a value, in its stored form. Undefined for values without one. */
  recordOf(holder: ApiObject, reservation: Reservation): ReservedKey | undefined
  /** Whether an API server created the object. */
  isManaged(record: ApiObject): boolean
}
