/** The memory of a process, as the system counts it (Linux). */
import { readFileSync } from 'node:fs'

/** Bytes that belong to the process alone: files of its own that are mapped are not counted. */
export function ownMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024
}
