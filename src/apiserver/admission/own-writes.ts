/** What controls may write themselves, as the server: nobody is asked for leave. */
import type { JsonObject } from '../../api/json/json.ts'
import type { ObjectName, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Claims, Dependency, TakenKey } from './commit-terms.ts'

/** A status, and what its commit rests on, takes and releases in the same step. */
export interface StatusChange extends Required<Claims> {
  readonly status: JsonObject
  readonly guards: readonly Dependency[]
}

/** Writes that admission controls make themselves; they bypass authorization. */
export interface OwnWrites {
  /**
   * Lets `next` make the status of an object from its present state, and stores it if the object is still in that
   * state; else it is called again with the newer one. What `next` throws is thrown, after it has seen the most recent
   * state. Nobody admits it: a status says what has been decided.
   */
  changeStatus(
    type: StoredType<unknown>,
    name: ObjectName,
    next: (object: ApiObject) => Promise<StatusChange>,
  ): Promise<void>
  /** What commits have taken under this prefix and none has released, as of now; as much as one commit can release. */
  taken(prefix: string): Promise<readonly TakenKey[]>
  /** Releases what a commit has taken, if it is there. */
  release(key: string): Promise<void>
  /**
   * Creates an object unless there is one of its name. It is admitted like any other, and refused by what is thrown.
   */
  createMissing(type: StoredType<unknown>, name: ObjectName, rest: JsonObject): Promise<void>
}
