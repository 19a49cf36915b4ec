/**
 * Handles damage that lmdb has caused in the memory of the process. lmdb 3.5.6 formats the error of a failed page write
 * into a buffer that is too short. The error text overwrites the memory after the buffer, and the process crashes when
 * that memory is freed by a garbage collection or at the end of the thread. The reported error itself is correct. The
 * thread therefore reports the error and then stops before it allocates or frees any memory. The process exits without
 * freeing the thread's memory.
 */
import { isMainThread } from 'node:worker_threads'
import { isExecutable } from '../../../base/files/program-files.ts'
import { isError } from '../../../base/text/errors.ts'

/** Whether the error reports a failed page write. The message of such an error overflows lmdb's buffer. */
export function damagesMemory(error: unknown): boolean {
  return isError(error) && error.message.includes('Attempting to write page at position')
}

/** Blocks this thread forever. Ending the thread would free the damaged memory and crash the process. */
export function stopForGood(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/**
 * Ensures that the process exits with the desired exit code before its threads are terminated. Node.js cannot exit in
 * this way, so the process replaces itself with another program. Only the main thread can replace the process.
 */
export function leaveThreadsAtExit(): void {
  if (!isMainThread) return
  process.on('exit', (code) => process.execve?.(process.execPath, [process.execPath, ...exitArguments(code)], {}))
}

/** Arguments that make Node.js, or the executable (bin/executable.cjs), exit with the given code. */
function exitArguments(code: number): readonly string[] {
  return isExecutable ? ['--exit-with', String(code)] : ['-e', `process.exit(${code})`]
}
