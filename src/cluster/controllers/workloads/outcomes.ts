/** Outcomes of workload steps: when to run the next step, and which errors require only a retry. */

import { isMissingRight } from '../../../client/reconcile/missing-rights.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import { isConflict, StatusError } from '../../../client/requests/status-error.ts'

/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because Node.js fires timers longer than 24
 * days immediately.
 */
const maxPauseMs = 60 * 60_000

/**
 * Returns the outcome that runs the step again after the shortest of these times. If there are no times, the step does
 * not run again.
 */
export function lookAgain(...times: readonly (number | undefined)[]): StepOutcome {
  const due = times.filter((ms) => ms !== undefined && ms > 0) as number[]
  return due.length === 0 ? 'done' : { afterMs: Math.min(maxPauseMs, ...due) }
}

/**
 * Returns the outcome of a step whose write failed. Steps are retried with backoff after a conflict, or after a
 * rejection that an Event or the status reports. All other errors are thrown, including errors caused by missing
 * permissions of the loop.
 */
export function afterRefusal(error: unknown): StepOutcome {
  if (!(error instanceof StatusError) || error.code >= 500 || isMissingRight(error)) throw error
  return 'later'
}

/** Returns the result of a write, or undefined on a conflict. The other client's change triggers the loop again. */
export async function unlessConflict<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}
