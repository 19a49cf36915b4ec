/**
 * The program `orch`. A server on the embedded store starts with the thread of that store, which then loads what it
 * needs while everything else is loaded here.
 */
import { startThreadAhead } from '../store/lmdb/thread-start.ts'

const args = process.argv.slice(2)
const elsewhere = /^--?(etcd-servers|help|h)\b/
if ((args[0] === 'up' || args[0] === 'apiserver') && !args.some((arg) => elsewhere.test(arg))) startThreadAhead()

const { main } = await import('./main.ts')
main(args)
