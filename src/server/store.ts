/** Opens the store that the options name. */
import { LmdbStore } from '../store/lmdb/store.ts'
import type { Store } from '../store/store.ts'
import type { ServerOptions } from './options.ts'

export async function openStore({ dataDir, historyDuration }: ServerOptions): Promise<Store> {
  return await LmdbStore.open({ directory: dataDir, historyMs: historyDuration })
}
