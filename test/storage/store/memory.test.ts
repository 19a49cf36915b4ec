/** Tests that the model fulfills the store contract too, because other stores are compared with it. */
import { after } from 'node:test'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { storeSuite } from './suite.ts'

// Keeps the process alive, which the store's timer must not do.
const alive = setInterval(() => {}, 1000)
after(() => clearInterval(alive))

storeSuite('memory', async () => {
  const store = new MemoryStore()
  return { store, cleanup: () => store.close() }
})
