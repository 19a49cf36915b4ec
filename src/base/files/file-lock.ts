/**
 * A lock between programs. The lock is a file that only one program can create. The lock of a killed program expires
 * after a minute. Other programs cannot check whether the owner still runs, because the owner may be running on another
 * machine.
 */
import { open, rm, stat } from 'node:fs/promises'
import { pause } from '../concurrency/abort.ts'
import { ignoring } from './files.ts'

/**
 * Age in milliseconds at which a lock expires. A program holds the lock only for a few requests, which take much less
 * time.
 */
const staleMs = 60_000
const retryMs = 50
/** Maximum time in milliseconds to wait while other programs hold the lock. */
const timeoutMs = 2 * staleMs

/**
 * Runs a function while this program holds the lock. Waits while other programs hold the lock, and throws after a
 * timeout.
 */
export async function withFileLock<T>(file: string, run: () => Promise<T>): Promise<T> {
  const end = performance.now() + timeoutMs
  while (!(await take(file))) {
    if (performance.now() > end)
      throw new Error(`${file} is locked by another program: try again, or remove the file if no program uses it`)
    await removeStale(file)
    await pause(retryMs, new AbortController().signal)
  }
  try {
    return await run()
  } finally {
    await rm(file, { force: true })
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await using _ = await open(file, 'wx', 0o600)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function removeStale(file: string): Promise<void> {
  const fileStat = await stat(file).catch(ignoring('ENOENT'))
  if (fileStat !== undefined && Date.now() - fileStat.mtimeMs > staleMs) await rm(file, { force: true })
}
