/** The model keeps the contract too: what it is compared with must be right itself. */
import { after } from 'node:test'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { storeSuite } from './suite.ts'

// Its timer keeps no process alive, and there may be nothing else in this one.
const alive = setInterval(() => {}, 1000)
after(() => clearInterval(alive))

storeSuite('memory', async () => {
  const store = new MemoryStore()
  return { store, cleanup: () => store.close() }
})
