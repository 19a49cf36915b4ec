/**
 * Stores the last run time of each test file on this machine. Slow files without a stored time use the times in
 * `usual-times.json`. The slowest files start first, so that no process is left working alone at the end of a run. The
 * times affect only the order of the files.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Time taken by a test file. */
export interface Spent {
  readonly ms: number
  readonly cpuMs: number
}

/** Run times in milliseconds, by file. */
export type Times = { readonly [file: string]: number }

const root = dirname(dirname(import.meta.dirname))
const timesFile = join(root, '.tools/test-times.json')

export function readTimes(): Times {
  const usual = Object.entries<number>(JSON.parse(readFileSync(join(import.meta.dirname, 'usual-times.json'), 'utf8')))
  return { ...Object.fromEntries(usual.map(([file, seconds]) => [join(root, file), 1000 * seconds])), ...readKept() }
}

function readKept(): Times {
  try {
    return JSON.parse(readFileSync(timesFile, 'utf8'))
  } catch {
    // No run times are stored yet, or another run is currently writing them.
    return {}
  }
}

export function keepTimes(before: Times, spent: readonly (readonly [string, Spent])[]): void {
  mkdirSync(dirname(timesFile), { recursive: true })
  const times = { ...before, ...Object.fromEntries(spent.map(([file, { ms }]) => [file, Math.round(ms)])) }
  writeFileSync(timesFile, JSON.stringify(times, undefined, 1))
}
