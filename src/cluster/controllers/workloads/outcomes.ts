/** How steps of workload loops end: when to look again, and which failures are no more than a reason to. */

import { isMissingRight } from '../../../client/reconcile/missing-rights.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import { isConflict, StatusError } from '../../../client/requests/status-error.ts'

/** A longer time is waited for in parts: timers end early beyond 24 days. */
const maxPauseMs = 60 * 60_000

/** To look again after the shortest of these times; done where there is none. */
export function lookAgain(...times: readonly (number | undefined)[]): StepOutcome {
  const due = times.filter((ms) => ms !== undefined && ms > 0) as number[]
  return due.length === 0 ? 'done' : { afterMs: Math.min(maxPauseMs, ...due) }
}

/**
 * What becomes of a step that could not write: one that was refused comes again after a growing pause, as its reason is
 * told in an Event or in the status, and one that lost a race does so too. Every other failure is thrown, and so is that
 * the loop lacks a right.
 */
export function afterRefusal(error: unknown): StepOutcome {
  if (!(error instanceof StatusError) || error.code >= 500 || isMissingRight(error)) throw error
  return 'later'
}

/** A write that may lose a race: undefined where it did, and someone else's change brings the object back. */
export async function unlessConflict<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}
