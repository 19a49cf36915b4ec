/** Reads the memory usage of a process from the system (Linux). */
import { readFileSync } from 'node:fs'

/** Returns the private bytes of the process, excluding its mapped files. */
export function ownMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024
}
