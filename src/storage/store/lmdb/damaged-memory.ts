/**
 * What is left to do when lmdb has damaged the memory of the process. lmdb 3.5.6 describes a write of pages that failed
 * in a buffer that is too short for it: the bytes behind it are overwritten, and whoever frees them next (a garbage
 * collection, the end of the thread) ends the process by a signal. The failure itself is reported in order. So the
 * thread says so, and then stops before anything else is allocated or freed in it; and the process ends without freeing
 * what the thread holds.
 */
import { isMainThread } from 'node:worker_threads'
import { isError } from '../../../base/text/errors.ts'

/** Whether this is the failure that lmdb describes in a buffer too short for it. */
export function damagesMemory(error: unknown): boolean {
  return isError(error) && error.message.includes('Attempting to write page at position')
}

/** Stops this thread, whose messages are on their way, without ending it. */
export function stopForGood(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/**
 * However the process ends from now on, it ends with its exit code, and its threads are not ended before. Node itself has
 * no such exit: another program takes the place of this one. Only the main thread can do that.
 */
export function leaveThreadsAtExit(): void {
  if (!isMainThread) return
  process.on('exit', (code) =>
    process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {}),
  )
}
