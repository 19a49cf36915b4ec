/**
 * Lifetimes of entries that are loaded into a store. The lifetime of an entry that expires starts over when the entry
 * is loaded.
 */

import { allKinds } from '../../api/kinds/all.ts'
import { prefixOf } from '../../storage/cache/caches.ts'

/** Returns a function that returns the lifetime of a key in seconds, or undefined if the key does not expire. */
export function lifetimes(ttlMs: number): (key: string) => number | undefined {
  const seconds = Math.ceil(ttlMs / 1000)
  const prefixes = allKinds
    .filter(({ lifecycle }) => lifecycle.expires)
    .map(({ group, plural }) => prefixOf(group, plural))
  return (key) => (prefixes.some((prefix) => key.startsWith(prefix)) ? seconds : undefined)
}
