/** Lowers the priority of background threads, so that they do not delay other threads of the process. */
import { getPriority, setPriority } from 'node:os'

/** The lower priority relative to the other threads, as for nice(1): about a tenth of their share of a busy core. */
const niceness = 10
const maxNiceness = 19

/**
 * Lowers the priority of the current thread. Has no effect on systems other than Linux, where a priority belongs to the
 * whole process.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + niceness, maxNiceness))
}
