/** Opens the caches of this server and logs their failures. */

import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { Caches, prefixOf } from '../../storage/cache/caches.ts'
import type { HistoryTime } from '../../storage/cache/revision-times.ts'
import type { Sharing } from '../../storage/cache/shared-blocks.ts'
import type { Store, StoreError } from '../../storage/store/store.ts'
import { tellUnreadable } from '../store/store-check.ts'

interface CacheParts {
  /**
   * Resolves when the store has failed permanently. After that, the server no longer logs failed attempts to watch the
   * store.
   */
  readonly failed: Promise<StoreError>
  readonly log: Log
  readonly eventRetention: HistoryTime
  /** The memory shared by the servers in this process. Undefined if the process runs only one server. */
  readonly sharing: Sharing | undefined
}

export function openCaches(store: Store, { failed, log, eventRetention, sharing }: CacheParts): Caches {
  let ended = false
  void failed.then(() => {
    ended = true
  })
  const onError = (error: unknown) => {
    if (!ended) log.error('the object caches lost their watch on the store; resuming', errorFields(error))
  }
  return new Caches(store, { onError, onUnreadable: tellUnreadable(log) }, { eventRetention, sharing, mayLoadLater })
}

/**
 * Built-in kinds whose objects, if there are many, may be loaded after the server becomes ready. The server does not
 * need these objects to authenticate, authorize or admit requests. Objects of all other kinds must be loaded before the
 * first request.
 */
const loadedLater = new Set(
  [
    ['core', ['configmaps', 'events', 'podtemplates', 'replicationcontrollers']],
    ['apps', ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets']],
    ['autoscaling', ['horizontalpodautoscalers']],
    ['batch', ['cronjobs', 'jobs']],
    ['coordination', ['leases']],
    ['events', ['events']],
    ['networking', ['ingresses', 'networkpolicies']],
  ].flatMap(([group, plurals]) => (plurals as string[]).map((plural) => prefixOf(group as string, plural))),
)

/**
 * Whether the objects of a kind may be loaded later. All custom kinds may be loaded later. Their key prefixes contain a
 * group name that ends with a dot.
 */
function mayLoadLater(prefix: string): boolean {
  return loadedLater.has(prefix) || prefix.includes('./')
}
