/**
 * A lock between programs: a file that only one of them can make. One that was left behind by a program that was killed
 * counts no longer after a while; its end is not known otherwise, since it may have run on another machine.
 */
import { open, rm, stat } from 'node:fs/promises'
import { pause } from '../concurrency/abort.ts'
import { ignoring } from './files.ts'

/** Longer than anybody holds one: what runs under it waits for a few answers at most. */
const staleMs = 60_000
const retryMs = 50
/** After this others are not waited for: they take it again and again. */
const patienceMs = 2 * staleMs

/** Runs it while this program alone holds the lock; waits for others that hold it, and throws where that takes too long. */
export async function withFileLock<T>(file: string, run: () => Promise<T>): Promise<T> {
  const end = performance.now() + patienceMs
  while (!(await take(file))) {
    if (performance.now() > end)
      throw new Error(`other programs hold ${file}: try again, or remove it if there are none`)
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
  const found = await stat(file).catch(ignoring('ENOENT'))
  if (found !== undefined && Date.now() - found.mtimeMs > staleMs) await rm(file, { force: true })
}
