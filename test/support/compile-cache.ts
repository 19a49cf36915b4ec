/**
 * Environment of a process that runs TypeScript of this repository. Types are stripped once per source, not by every
 * process and thread that loads it. Programs for users (`bin/`) start without it and have their own cache.
 */
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Returns the environment of this process without the cache. */
export function asForUsers(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _, NODE_COMPILE_CACHE_PORTABLE: __, ...env } = process.env
  return env
}

export const compiled = compiledIn(root)

/**
 * Returns the environment for this repository or a copy of it. Entries are named by paths relative to the cache, so
 * that a copy that links `dist/compiled` shares them.
 */
export function compiledIn(directory: string) {
  return { NODE_COMPILE_CACHE: join(directory, 'dist/compiled'), NODE_COMPILE_CACHE_PORTABLE: '1' }
}
