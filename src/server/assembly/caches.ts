/** Opens the caches of this server and logs their failures. */

import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { Caches } from '../../storage/cache/caches.ts'
import type { HistoryTime } from '../../storage/cache/revision-times.ts'
import type { Sharing } from '../../storage/cache/shared-blocks.ts'
import type { Store, StoreError } from '../../storage/store/store.ts'
import { tellUnreadable } from '../store/store-check.ts'

interface CacheParts {
  /** Resolves when the store has failed permanently. Later attempts to watch the store are not logged. */
  readonly failed: Promise<StoreError>
  readonly log: Log
  readonly kept: HistoryTime
  /** Undefined if the process runs a single server. */
  readonly sharing: Sharing | undefined
}

export function openCaches(store: Store, { failed, log, kept, sharing }: CacheParts): Caches {
  let ended = false
  void failed.then(() => {
    ended = true
  })
  const onError = (error: unknown) => {
    if (!ended) log.error('the store watch of the caches broke; resuming', errorFields(error))
  }
  return new Caches(store, { onError, onUnreadable: tellUnreadable(log) }, { kept, sharing })
}
