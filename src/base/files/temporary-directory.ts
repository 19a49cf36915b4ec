/**
 * Temporary directories of this process, in memory if possible. `removeTemporary` removes them, or else the end of the
 * process. The next process removes those of a killed one.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Memory-backed directory of Linux. */
const inMemory = '/dev/shm'
/** Existing directories of this process. */
const own = new Set<string>()

/** Creates an empty directory that only this user may read. Its name starts with `prefix`. Throws if that fails. */
export function temporaryDirectory(prefix: string): string {
  try {
    return makeIn(inMemory, prefix)
  } catch {
    return makeIn(tmpdir(), prefix)
  }
}

/** Removes such a directory with its content. */
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

/** A single exit listener for all directories. */
function removeAll(): void {
  for (const directory of own) rmSync(directory, { recursive: true, force: true })
}

/** Removes directories of processes that have ended. Directories of other users cannot be removed and stay. */
function removeAbandoned(place: string, prefix: string): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue
    const pid = /^(\d{1,9})-/.exec(name.slice(prefix.length))?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // The directory belongs to another user.
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
