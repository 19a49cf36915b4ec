/** Lowers the priority of background threads, so that they do not delay other threads of the process. */
import { getPriority, setPriority } from 'node:os'

/**
 * The nice(1) value of background threads. On a busy core, such a thread receives about a tenth of another thread's
 * share of CPU time.
 */
const niceness = 10
const maxNiceness = 19

/**
 * Lowers the priority of the current thread. Has an effect only on Linux, because other systems assign a priority only
 * to a whole process.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + niceness, maxNiceness))
}
