/** The caches of this server, and what is logged about them. */
import { Caches } from '../cache/caches.ts'
import type { Store, StoreError } from '../store/store.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { tellUnreadable } from './store-check.ts'

/** Once the store has failed for good, that is logged, and not each attempt to follow it. */
export function openCaches(store: Store, failed: Promise<StoreError>, log: Log): Caches {
  let ended = false
  void failed.then(() => {
    ended = true
  })
  return new Caches(store, {
    onError: (error) => {
      if (!ended) log.error('the watch that feeds the caches broke; resuming it', errorFields(error))
    },
    onUnreadable: tellUnreadable(log),
  })
}
