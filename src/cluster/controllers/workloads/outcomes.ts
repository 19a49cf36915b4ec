/** Outcomes of workload steps: when to run again, and which failures only need a retry. */

import { isMissingRight } from '../../../client/reconcile/missing-rights.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import { isConflict, StatusError } from '../../../client/requests/status-error.ts'

/** Splits longer waits, because timers fire too early beyond 24 days. */
const maxPauseMs = 60 * 60_000

/** Runs the step again after the shortest of these times, or ends it if there is none. */
export function lookAgain(...times: readonly (number | undefined)[]): StepOutcome {
  const due = times.filter((ms) => ms !== undefined && ms > 0) as number[]
  return due.length === 0 ? 'done' : { afterMs: Math.min(maxPauseMs, ...due) }
}

/**
 * Returns the outcome of a step whose write was rejected. Rejections, which an Event or the status reports, and lost
 * races are retried with backoff. All other errors are thrown, including missing permissions of the loop.
 */
export function afterRefusal(error: unknown): StepOutcome {
  if (!(error instanceof StatusError) || error.code >= 500 || isMissingRight(error)) throw error
  return 'later'
}

/** Returns undefined if the write lost a race. The other client's change triggers the object again. */
export async function unlessConflict<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}
