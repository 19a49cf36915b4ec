/**
 * Starts the thread of the embedded store. The program imports this module first, so that the thread starts up while
 * the other modules are being evaluated.
 */
import { isMainThread } from 'node:worker_threads'
import { startThreadAhead } from '../../storage/store/lmdb/thread-start.ts'

const [command, ...flags] = process.argv.slice(2)
const otherStoreFlag = /^--?(etcd-servers|help|h)\b/
if (isMainThread && (command === 'up' || command === 'apiserver') && !flags.some((flag) => otherStoreFlag.test(flag)))
  startThreadAhead()
