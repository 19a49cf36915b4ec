/**
 * Temporary directories of this process, in memory if possible. They are removed by `removeTemporary`, or when the
 * process exits. If a process is killed, the next process removes its directories.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The memory-backed directory of Linux. */
const inMemory = '/dev/shm'
/** The directories that this process has created and not removed yet. */
const own = new Set<string>()

/** Creates an empty directory that only this user may read. Its name starts with `prefix`. Throws if that fails. */
export function temporaryDirectory(prefix: string): string {
  try {
    return makeIn(inMemory, prefix)
  } catch {
    return makeIn(tmpdir(), prefix)
  }
}

/** Removes a directory that `temporaryDirectory` returned, with its content. */
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

/** Removes all directories. There is one exit listener for all of them. */
function removeAll(): void {
  for (const directory of own) rmSync(directory, { recursive: true, force: true })
}

/** Removes directories of processes that no longer run. Directories of other users cannot be removed and remain. */
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
