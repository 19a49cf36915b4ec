/**
 * How much is tried: a little in every run of the tests, much by `npm run test:fuzz`. The seed is told, and
 * `ORCH_FUZZ_SEED` repeats it.
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

/** The outcome, or undefined when it was refused as a client's fault. Anything else is a fault of ours. */
export function unlessRefused<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof ApiError && error.code >= 400 && error.code < 500) return undefined
    throw error
  }
}

/**
 * Processor time of the slowest of many runs, in milliseconds: what others do on the machine does not count. What seems
 * slower than all before it is run again, and its shortest time is what counts. To ask the system for the processor's time
 * takes longer than most runs, so that is done where the clock alone does not tell that it was no slower.
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
