/**
 * How much work it may be to judge one object by the rules of its schema. Most rules take a step for each value, and
 * need no bound of their own; patterns and alternatives multiply, and are counted here. When it becomes too much, the
 * object is refused: whoever wrote the schema and the object sees why, and nobody else has waited for it.
 */

import type { Effort } from '../../../api/schema/effort.ts'
import { threadMicroseconds } from '../../../base/concurrency/thread-time.ts'

/** Steps are counted as if each were the slowest; from here on the processor's time is what counts. */
const uncounted = 500_000
/** How long the thread may work on one object. */
const maxMicroseconds = 50_000

/** Whether so many more steps may be taken. Once the answer is no it stays so. */
export function mayTake(effort: Effort, steps: number): boolean {
  if (effort.spent) return false
  effort.began ??= threadMicroseconds()
  effort.steps += steps
  if (effort.steps < uncounted) return true
  effort.steps = 0
  effort.spent = threadMicroseconds() - effort.began > maxMicroseconds
  return !effort.spent
}
