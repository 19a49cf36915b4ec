/** Writes that admission controls make on behalf of the server. They bypass authorization. */
import type { JsonObject } from '../../api/json/json.ts'
import type { ObjectName, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Dependency, KeyReservations, ReservedKey } from './commit-terms.ts'

/** A new status, and the guards and keys of its commit. */
export interface StatusChange extends Required<KeyReservations> {
  readonly status: JsonObject
  readonly guards: readonly Dependency[]
}

/** Writes that admission controls make on behalf of the server. They bypass authorization. */
export interface OwnWrites {
  /**
   * Computes a new status with `next` and commits it if the object has not changed. Otherwise calls `next` again with
   * the newer object. Errors of `next` are thrown after it has seen the latest state. The write bypasses admission,
   * because a status reports decisions that were already made.
   */
  changeStatus(
    type: StoredType<unknown>,
    name: ObjectName,
    next: (object: ApiObject) => Promise<StatusChange>,
  ): Promise<void>
  /** Returns existing keys with this prefix. Returns at most as many keys as one commit can delete. */
  reservedKeys(prefix: string): Promise<readonly ReservedKey[]>
  /** Deletes a key if it exists. */
  release(key: string): Promise<void>
  /** Creates an object unless it exists. The object passes admission. If admission rejects it, an error is thrown. */
  createMissing(type: StoredType<unknown>, name: ObjectName, rest: JsonObject): Promise<void>
}
