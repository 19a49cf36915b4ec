/**
 * The environment of a process that runs TypeScript of this repository: types are stripped from a source once, not by
 * every process that loads it.
 */
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

export const compiled = { NODE_COMPILE_CACHE: join(root, 'dist/compiled') }
