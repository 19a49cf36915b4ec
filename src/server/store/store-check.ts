/**
 * Readiness check of the store: the store responds and the caches follow its changes. Without a store, the server
 * cannot serve requests.
 */

import type { Log } from '../../base/telemetry/log.ts'
import type { Caches } from '../../storage/cache/caches.ts'
import type { Unreadable } from '../../storage/cache/unreadable.ts'
import type { Store } from '../../storage/store/store.ts'

/** Timeout of the check in milliseconds. Few readiness probes wait longer than this. */
const patienceMs = 1_000

/** Checks the store. `failure` contains the reason if the store has failed permanently. */
export async function checkStore(
  store: Store,
  caches: Caches,
  failure: Error | undefined,
): Promise<string | undefined> {
  if (failure !== undefined) return `writes are no longer possible: ${failure.message}`
  if (caches.fault !== undefined) return caches.fault
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('the store does not respond'), patienceMs)
  return await Promise.race([ask(store), late]).finally(() => clearTimeout(timer))
}

const loggedKeys = 1_000
const toldKeys = 20

/** Returns a callback that logs each unreadable object, up to a maximum number of lines. */
export function tellUnreadable(log: Log): (unreadableEntry: Unreadable) => void {
  let reports = 0
  return ({ key, revision, why }) => {
    reports++
    if (reports <= loggedKeys)
      log.error('cannot read a stored object; responses omit the object', { key, revision, why })
    if (reports === loggedKeys) log.error('further unreadable objects are not logged; /readyz?verbose counts them')
  }
}

/**
 * Describes the stored objects that the server does not serve because they are unreadable. Returns undefined if there
 * are no such objects.
 */
export function leftOut(caches: Caches): string | undefined {
  const all = caches.unreadable()
  if (all.length === 0) return undefined
  const descriptions = all.slice(0, toldKeys).map(({ key, why }) => `${key} (${why})`)
  const more = all.length > descriptions.length ? `, and ${all.length - descriptions.length} more` : ''
  return `${all.length === 1 ? '1 object' : `${all.length} objects`} cannot be read: ${descriptions.join(', ')}${more}`
}

async function ask(store: Store): Promise<string | undefined> {
  try {
    await store.revision()
    return undefined
  } catch {
    return 'the store does not respond'
  }
}
