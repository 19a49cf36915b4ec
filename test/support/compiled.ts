/**
 * The environment of a process that runs TypeScript of this repository: types are stripped from a source once, not by
 * every process and thread that loads it. Programs for users (`bin/`) are started without it: they find their own.
 */
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** The environment of this process, without that. */
export function asForUsers(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  return env
}

export const compiled = { NODE_COMPILE_CACHE: join(root, 'dist/compiled') }
