/** The program `orch`. The workers of a server that has several are this program too. */
import './start-ahead.ts'
import { isMainThread, workerData } from 'node:worker_threads'
import { main } from './main.ts'

if (isMainThread) main(process.argv.slice(2))
else void import('../workers/worker.ts').then(({ runWorker }) => runWorker(workerData))
