/** Tests the embedded store: the store contract, and guarantees about restarts, the directory and limits. */
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { temporaryDirectory } from './directory.ts'
import { type Opened, restartSuite, storeSuite } from './suite.ts'

async function openLmdb(): Promise<Opened & { reopen(): Promise<LmdbStore> }> {
  const { directory, removeDirectory } = await temporaryDirectory()
  let store = await LmdbStore.open({ directory })
  return {
    store,
    async reopen() {
      await store.close()
      store = await LmdbStore.open({ directory })
      return store
    },
    async cleanup() {
      await store.close()
      await removeDirectory()
    },
  }
}

storeSuite('lmdb', openLmdb)
restartSuite('lmdb', openLmdb)
