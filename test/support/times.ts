/**
 * How long each test file took when it last ran on this machine, or else what those that take long have once taken
 * (`usual-times.json`): the longest are begun first, so that at the end of a run no process works on alone. Nothing but
 * the order depends on it.
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

const root = dirname(dirname(import.meta.dirname))
const kept = join(root, '.tools/test-times.json')

export function readTimes(): Times {
  const usual = Object.entries<number>(JSON.parse(readFileSync(join(import.meta.dirname, 'usual-times.json'), 'utf8')))
  return { ...Object.fromEntries(usual.map(([file, seconds]) => [join(root, file), 1000 * seconds])), ...readKept() }
}

function readKept(): Times {
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
