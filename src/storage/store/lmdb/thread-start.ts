/**
 * Starts the store's thread. What it needs takes it a while to load, and which file it is to open it need not know for
 * that: so who will need it can start it ahead and load something else meanwhile.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { leaveThreadsAtExit } from './damaged-memory.ts'

export interface Thread {
  readonly port: MessagePort
  /** Resolves when the thread is gone, with what ended it if that was an error. */
  readonly ended: Promise<unknown>
  /** For a thread that has stopped for good (`damaged-memory.ts`), and why: it counts as gone from now on. */
  readonly abandon: (cause: unknown) => void
}

let ahead: { readonly worker: Worker; readonly thread: Thread } | undefined

/** For the next connection. Does not keep the process alive until then. */
export function startThreadAhead(): void {
  ahead ??= start()
  ahead.worker.unref()
}

/** The thread that was started ahead, or else one that is started now. */
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
  worker.on('exit', () => {
    loading.delete(loaded)
    if (loading.size === 0) process.off('exit', waitUntilLoaded)
    resolve(cause)
  })
  const abandon = (why: unknown) => {
    worker.unref()
    leaveThreadsAtExit()
    resolve(why)
  }
  return { worker, thread: { port, ended, abandon } }
}

/** Of every thread that has not ended: 1 when it has loaded what it needs. */
const loading = new Set<Int32Array>()
const longestLoadMs = 10_000

/**
 * The native part of lmdb cannot be interrupted while it is loaded: the whole process would be aborted. So a process that
 * ends, for whatever reason, waits for that.
 */
function waitUntilLoaded(): void {
  for (const loaded of loading) Atomics.wait(loaded, 0, 0, longestLoadMs)
}

// The bundle has the thread beside it as a file of its own.
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './store-thread.cjs', import.meta.url)
}
