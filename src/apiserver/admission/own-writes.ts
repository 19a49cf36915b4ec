/** Writes that admission controls make on behalf of the server. They bypass authorization. */
import type { JsonObject } from '../../api/json/json.ts'
import type { ObjectName, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Dependency, KeyReservations, ReservedKey } from './commit-terms.ts'

/** A new status, with the revisions that its commit requires and the keys that the commit writes. */
export interface StatusChange extends Required<KeyReservations> {
  readonly status: JsonObject
  readonly guards: readonly Dependency[]
}

/** Makes the writes that admission controls need. */
export interface OwnWrites {
  /**
   * Computes a new status with `next` and commits the status if the object has not changed. Otherwise calls `next`
   * again with the newer object. If `next` throws an error for an outdated object, it is called again with the latest
   * object. The write bypasses admission, because a status reports decisions that were already made.
   */
  changeStatus(
    type: StoredType<unknown>,
    name: ObjectName,
    next: (object: ApiObject) => Promise<StatusChange>,
  ): Promise<void>
  /** Returns existing keys with the prefix, but at most as many as one commit can delete. */
  reservedKeys(prefix: string): Promise<readonly ReservedKey[]>
  /** Deletes a key if it exists. */
  release(key: string): Promise<void>
  /** Creates an object unless it exists. Throws an error if admission rejects the object. */
  createMissing(type: StoredType<unknown>, name: ObjectName, rest: JsonObject): Promise<void>
}
