/**
 * Environment of a process that runs TypeScript of this repository. Types are stripped once per source, not by every
 * process and thread that loads it. Programs for users (`bin/`) start without it and have their own cache.
 */
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Returns the environment of this process without the cache. */
export function asForUsers(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  return env
}

export const compiled = { NODE_COMPILE_CACHE: join(root, 'dist/compiled') }
