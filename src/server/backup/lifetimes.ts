/**
 * Determines the lifetimes of entries such as Events when they are loaded into a store. The full lifetime of an entry
 * starts again when the entry is loaded.
 */

import { allKinds } from '../../api/kinds/all.ts'
import { prefixOf } from '../../storage/cache/caches.ts'

/** Returns a function that maps a key to its lifetime in seconds, or to undefined if it does not expire. */
export function lifetimes(ttlMs: number): (key: string) => number | undefined {
  const seconds = Math.ceil(ttlMs / 1000)
  const prefixes = allKinds
    .filter(({ lifecycle }) => lifecycle.expires)
    .map(({ group, plural }) => prefixOf(group, plural))
  return (key) => (prefixes.some((prefix) => key.startsWith(prefix)) ? seconds : undefined)
}
