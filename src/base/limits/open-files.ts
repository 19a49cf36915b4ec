/** The limit of open files of this process. */
import { readFileSync } from 'node:fs'

/** Returns the limit. Undefined if the operating system does not report it. Only Linux reports it. */
export function openFileLimit(): number | undefined {
  try {
    const limitText = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limitText === undefined || limitText === 'unlimited' ? undefined : Number(limitText)
  } catch {
    return undefined
  }
}
