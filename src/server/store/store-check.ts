/**
 * The readiness check of the store: it must answer, and the caches must follow it. A server without it serves nothing.
 */

import type { Log } from '../../base/telemetry/log.ts'
import type { Caches } from '../../storage/cache/caches.ts'
import type { Unreadable } from '../../storage/cache/unreadable.ts'
import type { Store } from '../../storage/store/store.ts'

/** Whoever asks for readiness seldom waits longer. */
const patienceMs = 1_000

/** `failure` is why the store can never be written again. */
export async function checkStore(
  store: Store,
  caches: Caches,
  failure: Error | undefined,
): Promise<string | undefined> {
  if (failure !== undefined) return `nothing can be written any more: ${failure.message}`
  if (caches.fault !== undefined) return caches.fault
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('the store does not answer'), patienceMs)
  return await Promise.race([ask(store), late]).finally(() => clearTimeout(timer))
}

const loggedKeys = 1_000
const toldKeys = 20

/** Names each object that cannot be read, as long as the log is worth reading. */
export function tellUnreadable(log: Log): (held: Unreadable) => void {
  let told = 0
  return ({ key, revision, why }) => {
    told++
    if (told <= loggedKeys) log.error('cannot read a stored object; it is not served', { key, revision, why })
    if (told === loggedKeys) log.error('further unreadable objects are not logged; /readyz?verbose counts')
  }
}

/** What is stored and left out because it cannot be read; undefined when there is nothing. */
export function leftOut(caches: Caches): string | undefined {
  const all = caches.unreadable()
  if (all.length === 0) return undefined
  const told = all.slice(0, toldKeys).map(({ key, why }) => `${key} (${why})`)
  const more = all.length > told.length ? `, and ${all.length - told.length} more` : ''
  return `${all.length === 1 ? '1 object' : `${all.length} objects`} cannot be read: ${told.join(', ')}${more}`
}

async function ask(store: Store): Promise<string | undefined> {
  try {
    await store.revision()
    return undefined
  } catch {
    return 'the store does not answer'
  }
}
