/** Defines the objects, such as the IPAddresses of Services, that represent reserved values. */
import type { ApiObject } from '../../../api/model/object.ts'
import type { Reservation } from '../../../api/schema/reservations.ts'
import type { Key, ReservedKey } from '../../../storage/store/store.ts'

/** The values that a write reserves for an object, and the values that it releases. */
export interface HoldingChange {
  readonly added: readonly Reservation[]
  readonly removed: readonly Reservation[]
}

export interface ValueRecords {
  /** Returns whether an object represents the reserved value. */
  isTaken(reservation: Reservation): boolean
  /** Returns the objects to create and to delete in the same commit as the object that owns the values. */
  changes(holder: ApiObject, change: HoldingChange): { reserves: ReservedKey[]; releases: Key[] }
  /** Returns the object that represents a value, as it is stored. Undefined if the value needs no object. */
  recordOf(holder: ApiObject, reservation: Reservation): ReservedKey | undefined
  /** Returns whether an API server created the object that represents a value. */
  isManaged(record: ApiObject): boolean
}
