/** The `orch` program. The worker threads of a server run it too. */
import './start-ahead.ts'
import { isMainThread, workerData } from 'node:worker_threads'
import { main } from './main.ts'

if (isMainThread) main(process.argv.slice(2))
else void import('../workers/worker.ts').then(({ runWorker }) => runWorker(workerData))
