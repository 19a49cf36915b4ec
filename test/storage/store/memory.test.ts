/** The model must keep the contract too, because other stores are compared to the model. */
import { after } from 'node:test'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import { storeSuite } from './suite.ts'

// The store's timer does not keep the process alive, and nothing else may do so.
const alive = setInterval(() => {}, 1000)
after(() => clearInterval(alive))

storeSuite('memory', async () => {
  const store = new MemoryStore()
  return { store, cleanup: () => store.close() }
})
