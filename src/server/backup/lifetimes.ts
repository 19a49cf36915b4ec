/** How long the entries of a store that is filled are kept: those of kinds that expire for a whole lifetime from now. */

import { allKinds } from '../../api/kinds/all.ts'
import { prefixOf } from '../../storage/cache/caches.ts'

/** Returns the lifetime in seconds for a key; undefined: it stays. */
export function lifetimes(ttlMs: number): (key: string) => number | undefined {
  const seconds = Math.ceil(ttlMs / 1000)
  const prefixes = allKinds.filter(({ life }) => life.expires).map(({ group, plural }) => prefixOf(group, plural))
  return (key) => (prefixes.some((prefix) => key.startsWith(prefix)) ? seconds : undefined)
}
