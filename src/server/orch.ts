/**
 * The program `orch`. A server on the embedded store starts with the thread of that store, which then loads what it
 * needs while everything else is loaded here. The workers of a server that has several are this program too.
 */
import { isMainThread, workerData } from 'node:worker_threads'
import { startThreadAhead } from '../store/lmdb/thread-start.ts'

const args = process.argv.slice(2)
const elsewhere = /^--?(etcd-servers|help|h)\b/
if (isMainThread && (args[0] === 'up' || args[0] === 'apiserver') && !args.some((arg) => elsewhere.test(arg)))
  startThreadAhead()

if (isMainThread) {
  const { main } = await import('./main.ts')
  main(args)
} else {
  const { runWorker } = await import('./workers/worker.ts')
  await runWorker(workerData)
}
