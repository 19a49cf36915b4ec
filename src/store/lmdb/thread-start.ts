/**
 * Starts the store's thread. What it needs takes it a while to load, and which file it is to open it need not know for
 * that: so who will need it can start it ahead and load something else meanwhile.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'

export interface Thread {
  readonly port: MessagePort
  /** Resolves when the thread is gone, with what ended it if that was an error. */
  readonly ended: Promise<unknown>
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
  const worker = new Worker(threadUrl(), { workerData: { port: port2 }, transferList: [port2], execArgv: [] })
  let cause: unknown
  worker.on('error', (error: unknown) => {
    cause = error
  })
  const ended = new Promise<unknown>((resolve) => worker.on('exit', () => resolve(cause)))
  return { worker, thread: { port, ended } }
}

// The bundle has the thread beside it as a file of its own.
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './store-thread.js', import.meta.url)
}
