/** What controls may write themselves, as the server: nobody is asked for leave. */
import type { JsonObject } from '../model/json.ts'
import type { ObjectName, StoredType } from '../model/lookup.ts'
import type { ApiObject } from '../model/object.ts'

/** Writes that admission controls make themselves; they bypass authorization. */
export interface OwnWrites {
  /**
   * Lets `next` make the status of an object from its present state, and stores it if the object is still in that
   * state; else it is called again with the newer one. What `next` throws is thrown, after it has seen the most recent
   * state. Nobody admits it: a status says what has been decided.
   */
  changeStatus(type: StoredType<unknown>, name: ObjectName, next: (object: ApiObject) => JsonObject): Promise<void>
  /**
   * Creates an object unless there is one of its name. It is admitted like any other, and refused by what is thrown.
   */
  createMissing(type: StoredType<unknown>, name: ObjectName, rest: JsonObject): Promise<void>
}
