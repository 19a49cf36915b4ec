/** Starts the store's thread ahead and leaves at once; tells whether the native part of lmdb was loaded by then. */
import { readFileSync } from 'node:fs'
import { startThreadAhead } from '../../../src/storage/store/lmdb/thread-start.ts'

startThreadAhead()
process.on('exit', () => {
  const isLoaded = /lmdb\S*\.node$/m.test(readFileSync('/proc/self/maps', 'utf8'))
  console.log(isLoaded ? 'loaded' : 'not loaded')
})
process.exit(3)
