/**
 * Limits the work of validating one object. Most validation rules take one step per value and need no limit. The cost
 * of patterns and alternatives can multiply, so their steps are counted. An object that needs too much work is rejected
 * with an explanation before it can delay other requests.
 */

import type { Effort } from '../../../api/schema/effort.ts'
import { threadMicroseconds } from '../../../base/concurrency/thread-time.ts'

/** Number of steps between two checks of the CPU time. */
const uncounted = 500_000
/** Maximum CPU time per object, in microseconds. */
const maxMicroseconds = 50_000

/** Counts the given number of steps. Returns false once the object has used up its limit. */
export function mayTake(effort: Effort, steps: number): boolean {
  if (effort.spent) return false
  effort.began ??= threadMicroseconds()
  effort.steps += steps
  if (effort.steps < uncounted) return true
  effort.steps = 0
  effort.spent = threadMicroseconds() - effort.began > maxMicroseconds
  return !effort.spent
}
