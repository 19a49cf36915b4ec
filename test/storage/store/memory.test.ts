/** Tests that the in-memory model also fulfills the store contract, because other stores are compared with it. */
import { after } from 'node:test'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { storeSuite } from './suite.ts'

// Keep the process alive, because the store's timer does not.
const alive = setInterval(() => {}, 1000)
after(() => clearInterval(alive))

storeSuite('memory', async () => {
  const store = new MemoryStore()
  return { store, cleanup: () => store.close() }
})
