/** The model keeps the contract too: what it is compared with must be right itself. */
import { MemoryStore } from '../../src/store/memory.ts'
import { storeSuite } from './suite.ts'

storeSuite('memory', async () => {
  const store = new MemoryStore()
  return { store, cleanup: () => store.close() }
})
