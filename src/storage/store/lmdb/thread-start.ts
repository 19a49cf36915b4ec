/**
 * Starts the store's thread. The thread takes a while to load its modules and does not need the file name for that. So
 * it can be started in advance, while the caller loads other modules.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { leaveThreadsAtExit } from './damaged-memory.ts'

export interface Thread {
  readonly port: MessagePort
  /** Resolves when the thread has ended, with the error that ended it, if any. */
  readonly ended: Promise<unknown>
  /** Treats a permanently stopped thread (`damaged-memory.ts`) as ended, with this cause. */
  readonly abandon: (cause: unknown) => void
}

/** Maximum duration of the cleanup of a thread that ends. A thread that takes longer is treated as ended. */
const maxCleanupMs = 3_000

let ahead: { readonly worker: Worker; readonly thread: Thread } | undefined

/** Starts a thread for the next connection. Until then it does not keep the process alive. */
export function startThreadAhead(): void {
  ahead ??= start()
  ahead.worker.unref()
}

/** Returns the thread that was started in advance, or starts one now. */
export function takeThread(): Thread {
  const { worker, thread } = ahead ?? start()
  ahead = undefined
  worker.ref()
  return thread
}

function start() {
  const { port1: port, port2 } = new MessageChannel()
  const loaded = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(threadUrl(), { workerData: { port: port2, loaded }, transferList: [port2], execArgv: [] })
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

/** One entry per running thread: 1 once it has loaded its modules. */
const loading = new Set<Int32Array>()
const maxLoadMs = 10_000

/**
 * Loading lmdb's native module cannot be interrupted: the whole process would abort. So a process that exits, for
 * whatever reason, waits for it.
 */
function waitUntilLoaded(): void {
  for (const loaded of loading) Atomics.wait(loaded, 0, 0, maxLoadMs)
}

// In the bundle the thread is a separate file.
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './store-thread.cjs', import.meta.url)
}
