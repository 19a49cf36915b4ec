/** Declares the writes that admission plugins make as the server, without authorization. */
import type { JsonObject } from '../../api/json/json.ts'
import type { ObjectName, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Dependency, KeyReservations, ReservedKey } from './commit-terms.ts'

/** A new status, with the preconditions of its commit and the additional keys that the commit writes. */
export interface StatusChange extends Required<KeyReservations> {
  readonly status: JsonObject
  readonly guards: readonly Dependency[]
}

/** The writes that admission plugins make on behalf of the server. */
export interface OwnWrites {
  /**
   * Updates the status of an object. `next` computes the new status and is called again if another writer changes the
   * object first, or if `next` throws an error because the cached object is outdated. The write bypasses admission,
   * because a status only records changes that have already been admitted.
   */
  changeStatus(
    type: StoredType<unknown>,
    name: ObjectName,
    next: (object: ApiObject) => Promise<StatusChange>,
  ): Promise<void>
  /** Lists reserved keys that start with `prefix`, up to the number that a single commit can delete. */
  reservedKeys(prefix: string): Promise<readonly ReservedKey[]>
  /** Deletes a key if it exists. */
  release(key: string): Promise<void>
  /** Creates an object if it does not exist. Throws an error if admission rejects the object. */
  createMissing(type: StoredType<unknown>, name: ObjectName, rest: JsonObject): Promise<void>
}
