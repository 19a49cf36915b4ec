/** How many files and connections the system lets this process open. */
import { readFileSync } from 'node:fs'

/** Undefined where the system does not say: only Linux does. */
export function openFileLimit(): number | undefined {
  try {
    const found = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return found === undefined || found === 'unlimited' ? undefined : Number(found)
  } catch {
    return undefined
  }
}
