/**
 * The environment of a process that runs the TypeScript sources of this repository. With a shared cache, Node.js strips
 * the types from a source only once, rather than in every process and thread that loads it. Programs for users (`bin/`)
 * start without this environment and have their own cache.
 */
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Returns the environment of this process without the compile cache. */
export function asForUsers(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _, NODE_COMPILE_CACHE_PORTABLE: __, ...env } = process.env
  return env
}

export const compiled = compiledIn(root)

/**
 * Returns the environment for this repository or a copy of it. Cache entries are named by paths relative to the cache,
 * so that a copy that links to `dist/compiled` shares the entries.
 */
export function compiledIn(directory: string) {
  return { NODE_COMPILE_CACHE: join(directory, 'dist/compiled'), NODE_COMPILE_CACHE_PORTABLE: '1' }
}
