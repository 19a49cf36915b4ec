/**
 * Starts the store's thread. The thread can be started in advance, while the caller loads other modules. The thread
 * needs time to load its own modules, and needs the file name only afterward.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { startThread } from '../../../base/files/program-files.ts'
import { leaveThreadsAtExit } from './damaged-memory.ts'

/** The entry point of the store's thread. */
const threadProgram = { importer: import.meta.url, source: './thread.ts', bundled: 'store-thread.cjs' }

export interface Thread {
  readonly port: MessagePort
  /**
   * Resolves when the thread has ended. The result is the error that ended the thread, or undefined if there was no
   * error.
   */
  readonly ended: Promise<unknown>
  /**
   * Treats the thread as ended, with the given cause. Used for a thread that has blocked itself forever
   * (`damaged-memory.ts`).
   */
  readonly abandon: (cause: unknown) => void
}

/**
 * Maximum time in milliseconds for the cleanup of a thread that ends. If the cleanup takes longer, the thread is
 * treated as ended.
 */
const maxCleanupMs = 3_000

let ahead: { readonly worker: Worker; readonly thread: Thread } | undefined

/** Starts a thread for the next connection. The thread does not keep the process alive until a connection uses it. */
export function startThreadAhead(): void {
  ahead ??= start()
  ahead.worker.unref()
}

/** Returns the thread that was started in advance, or starts a thread. */
export function takeThread(): Thread {
  const { worker, thread } = ahead ?? start()
  ahead = undefined
  worker.ref()
  return thread
}

function start() {
  const { port1: port, port2 } = new MessageChannel()
  const loaded = new Int32Array(new SharedArrayBuffer(4))
  const worker = startThread(threadProgram, {
    workerData: { port: port2, loaded },
    transferList: [port2],
    execArgv: [],
  })
  let cause: unknown
  worker.on('error', (error: unknown) => {
    cause = error
  })
  if (loading.size === 0) process.on('exit', waitUntilLoaded)
  loading.add(loaded)
  const { promise: ended, resolve } = Promise.withResolvers<unknown>()
  let exited = false
  worker.on('exit', () => {
    exited = true
    loading.delete(loaded)
    if (loading.size === 0) process.off('exit', waitUntilLoaded)
    resolve(cause)
  })
  const abandon = (why: unknown) => {
    worker.unref()
    leaveThreadsAtExit()
    resolve(why)
  }
  // The ports close first. Then lmdb's native cleanup runs, which may block forever if commits were running.
  port.once('close', () => setTimeout(() => !exited && abandon(cause), maxCleanupMs).unref())
  return { worker, thread: { port, ended, abandon } }
}

/** One flag per starting thread. The flag becomes 1 when the thread has loaded its modules. */
const loading = new Set<Int32Array>()
const maxLoadMs = 10_000

/**
 * Blocks until all threads have loaded their modules. A process that exits for any reason must wait until then, because
 * interrupting the load of lmdb's native module would abort the whole process.
 */
function waitUntilLoaded(): void {
  for (const loaded of loading) Atomics.wait(loaded, 0, 0, maxLoadMs)
}
