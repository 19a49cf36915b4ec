/** The `orch` program, which a server's worker threads also run. */
import './start-ahead.ts'
import { isMainThread, workerData } from 'node:worker_threads'
import { main } from './main.ts'

if (isMainThread) main(process.argv.slice(2))
else void import('../workers/worker.ts').then(({ runWorker }) => runWorker(workerData))
