/** Open-file limit of this process. */
import { readFileSync } from 'node:fs'

/** Returns undefined if the system does not report the limit. Only Linux does. */
export function openFileLimit(): number | undefined {
  try {
    const found = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return found === undefined || found === 'unlimited' ? undefined : Number(found)
  } catch {
    return undefined
  }
}
