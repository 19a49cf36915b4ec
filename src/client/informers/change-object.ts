/** Read, change, write: the way to change an object that others change too. */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { backoffMs } from '../../base/concurrency/backoff.ts'
import type { Client, UpdateOptions } from '../requests/client.ts'
import type { ObjectName, ResourceType } from '../requests/resource-type.ts'
import { isConflict } from '../requests/status-error.ts'

const maxAttempts = 20
/** Whoever lost a race waits for a short random time, so that the same writers do not meet again. */
const backoff = { firstMs: 2, longestMs: 200 }
const never = new AbortController().signal

/**
 * Writes what `change` makes of the newest state, and starts over when someone was faster. `change` gives undefined to
 * leave the object as it is; then so does this. Throws the conflict when it goes on for too long.
 */
export async function changeObject<T extends ObjectBase = ApiObject>(
  client: Client,
  type: ResourceType<T>,
  { name, change, ...options }: UpdateOptions & { name: ObjectName; change: (object: T) => T | undefined },
): Promise<T | undefined> {
  // The object is read as a whole: not every sub-resource that can be written can be read.
  const { signal } = options
  for (let attempt = 1; ; attempt++) {
    const next = change(await client.get(type, name, { signal }))
    if (next === undefined) return undefined
    try {
      return await client.update(type, next, options)
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error
    }
    await pause(backoffMs(backoff, attempt), options.signal ?? never)
  }
}
