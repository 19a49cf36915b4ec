/**
 * Temporary directories of this process, in memory if possible. A directory is removed by `removeTemporary` or when the
 * process exits. If the process is killed, the next process removes its directories.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The Linux directory whose files are kept in memory. */
export const inMemory = '/dev/shm'
/** The directories that this process has created and not yet removed. */
const own = new Set<string>()

/** Creates an empty directory that only the current user can read and whose name starts with `prefix`. */
export function temporaryDirectory(prefix: string): string {
  try {
    return temporaryDirectoryIn(inMemory, prefix)
  } catch {
    return temporaryDirectoryIn(tmpdir(), prefix)
  }
}

/** Like `temporaryDirectory`, but creates the directory in `place`. */
export function temporaryDirectoryIn(place: string, prefix: string): string {
  const directory = mkdtempSync(join(place, `${prefix}${process.pid}-`))
  if (own.size === 0) process.on('exit', removeAll)
  own.add(directory)
  removeAbandoned(place, prefix)
  return directory
}

/** Removes a directory that `temporaryDirectory` returned, including its content. */
export function removeTemporary(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  own.delete(directory)
  if (own.size === 0) process.off('exit', removeAll)
}

/** Removes all temporary directories of this process when it exits. */
function removeAll(): void {
  for (const directory of own) rmSync(directory, { recursive: true, force: true })
}

/**
 * Removes the directories of processes that have ended. Directories of other users cannot be removed, so they remain.
 */
function removeAbandoned(place: string, prefix: string): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue
    const pid = /^(\d{1,9})-/.exec(name.slice(prefix.length))?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // Ignore the error: directories of other users cannot be removed.
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
