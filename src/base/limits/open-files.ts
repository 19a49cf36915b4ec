/** Reads the limit on open files of this process. */
import { readFileSync } from 'node:fs'

/**
 * Returns the maximum number of open files, or undefined on operating systems other than Linux, which do not report the
 * limit.
 */
export function openFileLimit(): number | undefined {
  try {
    const limitText = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limitText === undefined || limitText === 'unlimited' ? undefined : Number(limitText)
  } catch {
    return undefined
  }
}
