/** Reads, modifies and writes an object that other writers also change. */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { backoffMs } from '../../base/concurrency/backoff.ts'
import type { Client, UpdateOptions } from '../requests/client.ts'
import type { ObjectName, ResourceType } from '../requests/resource-type.ts'
import { isConflict } from '../requests/status-error.ts'

const maxAttempts = 20
/** Backoff after a conflict. The random delay prevents the same writers from conflicting again. */
const backoff = { firstMs: 2, longestMs: 200 }
const never = new AbortController().signal

/**
 * Updates an object that others may change at the same time. `change` receives the latest state and returns the new
 * state, or undefined to leave the object unchanged. Retries on conflicts, and throws the conflict error after too many
 * attempts.
 */
export async function changeObject<T extends ObjectBase = ApiObject>(
  client: Client,
  type: ResourceType<T>,
  { name, change, ...options }: UpdateOptions & { name: ObjectName; change: (object: T) => T | undefined },
): Promise<T | undefined> {
  // Read the object itself, even to write a subresource. Some subresources cannot be read.
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
