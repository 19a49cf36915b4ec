/**
 * Starts the store's thread in advance and exits immediately. Prints whether lmdb's native module had already been
 * loaded at that time.
 */
import { readFileSync } from 'node:fs'
import { startThreadAhead } from '../../../src/storage/store/lmdb/thread-start.ts'

startThreadAhead()
process.on('exit', () => {
  const isLoaded = /lmdb\S*\.node$/m.test(readFileSync('/proc/self/maps', 'utf8'))
  console.log(isLoaded ? 'loaded' : 'not loaded')
})
process.exit(3)
