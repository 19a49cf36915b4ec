/**
 * How long each test file took when it last ran on this machine: the longest are begun first, so that at the end of a run
 * no process works on alone. Kept beside the bundle; nothing but the order depends on it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What a file took. */
export interface Spent {
  readonly ms: number
  readonly cpuMs: number
}

/** By file, in milliseconds. */
export type Times = { readonly [file: string]: number }

const kept = join(dirname(dirname(import.meta.dirname)), 'dist/test-times.json')

export function readTimes(): Times {
  try {
    return JSON.parse(readFileSync(kept, 'utf8'))
  } catch {
    // None are kept yet, or another run is writing them.
    return {}
  }
}

export function keepTimes(before: Times, spent: readonly (readonly [string, Spent])[]): void {
  mkdirSync(dirname(kept), { recursive: true })
  const times = { ...before, ...Object.fromEntries(spent.map(([file, { ms }]) => [file, Math.round(ms)])) }
  writeFileSync(kept, JSON.stringify(times, undefined, 1))
}
