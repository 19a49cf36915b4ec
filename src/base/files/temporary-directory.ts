/**
 * Directories for what need not outlast this process: in memory where the machine has a place for that. They are
 * removed with `removeTemporary`, or else when the process ends; what a killed process left behind, the next one removes.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory in memory, where there is one. */
const inMemory = '/dev/shm'
/** Those of this process that are still there. */
const own = new Set<string>()

/** Makes an empty directory that only this user may read. Its name begins with `prefix`. Throws where none can be made. */
export function temporaryDirectory(prefix: string): string {
  try {
    return makeIn(inMemory, prefix)
  } catch {
    return makeIn(tmpdir(), prefix)
  }
}

/** Removes such a directory with all that is in it. */
export function removeTemporary(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  own.delete(directory)
  if (own.size === 0) process.off('exit', removeAll)
}

function makeIn(place: string, prefix: string): string {
  const directory = mkdtempSync(join(place, `${prefix}${process.pid}-`))
  if (own.size === 0) process.on('exit', removeAll)
  own.add(directory)
  removeAbandoned(place, prefix)
  return directory
}

/** One listener, however many directories there are. */
function removeAll(): void {
  for (const directory of own) rmSync(directory, { recursive: true, force: true })
}

/** What processes of ours left behind that are no longer there. That of other users cannot be removed, and stays. */
function removeAbandoned(place: string, prefix: string): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue
    const pid = /^(\d{1,9})-/.exec(name.slice(prefix.length))?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // It is somebody else's.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
