/**
 * Handles damage that lmdb has done to the memory of the process. lmdb 3.5.6 formats the error of a failed page write
 * into a buffer that is too short. This overwrites the bytes after the buffer, and the next code that frees them (a
 * garbage collection, the end of the thread) crashes the process. The error itself is correct. The thread therefore
 * reports it and then stops before it allocates or frees anything else. The process exits without freeing the thread's
 * memory.
 */
import { isMainThread } from 'node:worker_threads'
import { isError } from '../../../base/text/errors.ts'

/** Whether this is the error that overflows lmdb's buffer. */
export function damagesMemory(error: unknown): boolean {
  return isError(error) && error.message.includes('Attempting to write page at position')
}

/** Stops this thread after its last messages, without ending it. */
export function stopForGood(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/**
 * Ensures that the process exits with its exit code before its threads are terminated. Node has no such exit, so
 * another program replaces this process. Only the main thread can do that.
 */
export function leaveThreadsAtExit(): void {
  if (!isMainThread) return
  process.on('exit', (code) =>
    process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {}),
  )
}
