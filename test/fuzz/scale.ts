/**
 * The number of iterations of fuzz tests: a few in an ordinary test run, and many with `npm run test:fuzz`. Each test
 * prints its seed, and `ORCH_FUZZ_SEED` repeats a run.
 */
import { ApiError } from '../../src/api/model/api-error.ts'
import { cpuMs } from '../support/effort.ts'

const long = process.env.ORCH_FUZZ === 'long'

export const seed = Number(process.env.ORCH_FUZZ_SEED ?? 1)

export function rounds(short: number, many: number): number {
  return long ? many : short
}

export function tell(what: string, counts: { readonly [name: string]: number }): void {
  const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  console.error(`fuzz, ${what}: ${told.join(', ')} (seed ${seed})`)
}

/** Returns the result, or undefined if the input was rejected as the client's fault. Any other error is a bug. */
export function unlessRefused<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof ApiError && error.code >= 400 && error.code < 500) return undefined
    throw error
  }
}

/**
 * Determines the CPU time in milliseconds of the slowest of many runs, independently of the load on the machine. A run
 * that appears slower than all earlier runs is repeated, and its shortest time counts. Querying the CPU time takes
 * longer than most runs. The CPU time is therefore queried only if the wall clock does not already rule out a slower
 * run.
 */
export class Slowest {
  ms = 0

  run<T>(work: () => T): T {
    const began = performance.now()
    let result = work()
    let ms = performance.now() - began
    const measure = () =>
      cpuMs(() => {
        result = work()
      })
    for (let more = 0; more < 4 && ms > this.ms; more++) ms = Math.min(ms, measure())
    this.ms = Math.max(this.ms, ms)
    return result
  }
}
