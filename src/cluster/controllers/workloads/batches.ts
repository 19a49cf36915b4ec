/**
 * Sends many similar writes of one step in batches. The batch size doubles while all writes succeed (1, 2, 4, ...). If
 * no write can succeed, for example because a quota is exceeded, only one write is therefore tried rather than
 * hundreds. At most `maxAtOnce` writes run concurrently, and other work can run in between.
 */
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'

const maxAtOnce = 16

/** The number of writes that succeeded, and the first failure. */
export interface BatchOutcome {
  readonly succeeded: number
  /** The first failure among the writes. Undefined if all writes succeeded. */
  readonly error?: unknown
}

/** Performs `count` writes in growing batches. Stops after a batch with a failure. */
export async function slowStart(count: number, write: (i: number) => Promise<void>): Promise<BatchOutcome> {
  let succeeded = 0
  for (let startedCount = 0, size = 1; startedCount < count; size *= 2) {
    const batch = Math.min(size, count - startedCount)
    const first = startedCount
    const outcome = await writeAll(batch, (i) => write(first + i))
    startedCount += batch
    succeeded += outcome.succeeded
    if ('error' in outcome) return { succeeded, error: outcome.error }
  }
  return { succeeded }
}

/** Performs `count` writes. The failure of one write does not prevent the others. */
export async function writeAll(count: number, write: (i: number) => Promise<void>): Promise<BatchOutcome> {
  const slice = new TimeSlice()
  const errors: unknown[] = []
  let next = 0
  let succeeded = 0
  const worker = async () => {
    while (next < count) {
      const i = next++
      await slice.yieldIfDue()
      try {
        await write(i)
        succeeded++
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, count) }, worker))
  return errors.length === 0 ? { succeeded } : { succeeded, error: errors[0] }
}
