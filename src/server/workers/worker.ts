/**
 * A worker in a separate thread. It starts serving when the supervisor requests it, increments a heartbeat counter as
 * long as its event loop runs, and exits once it has completed its requests.
 */
import { parentPort } from 'node:worker_threads'
import { errorFields, openLog } from '../../base/telemetry/log.ts'
import { readServerFlags } from '../flags/command-line.ts'
import { heartbeatMs } from '../threads/heartbeat.ts'
import type { ToWorker, WorkerData } from '../threads/messages.ts'
import { WorkerServer } from './worker-server.ts'

/**
 * Time in milliseconds for which a worker continues to run without its store. If the store has failed for all workers,
 * the supervisor ends the process earlier and reports the reason. If only this worker has lost the store, another
 * worker replaces it.
 */
const lostMs = 5_000

/** Runs a worker until the supervisor stops it. */
export async function runWorker(data: WorkerData): Promise<void> {
  const line = await readServerFlags(data.command, data.flags)
  const { verbosity: level, loggingFormat: format } = line.options
  const log = openLog({ level, format, fields: { worker: data.index } })
  process.on('unhandledRejection', (error) => log.error('unhandled promise rejection', errorFields(error)))
  const server = new WorkerServer({
    data,
    line,
    log,
    tell: (message, transfer) => parentPort!.postMessage(message, transfer),
    onFailed: () => setTimeout(() => process.exit(1), lostMs).unref(),
  })
  parentPort!.on('message', (message: ToWorker) => {
    if (message.type === 'start') setInterval(() => Atomics.add(data.heartbeat, 0, 1), heartbeatMs).unref()
    server.obey(message)
  })
  await server.ended
  process.exit(0)
}
