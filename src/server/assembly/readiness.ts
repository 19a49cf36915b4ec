/** Readiness of this server: the store responds and is writable, and the server is not about to stop. */

import type { HealthCheck } from '../../apiserver/http/paths/health.ts'
import type { MissingRights } from '../../client/reconcile/missing-rights.ts'
import type { Caches } from '../../storage/cache/caches.ts'
import type { Store, StoreError } from '../../storage/store/store.ts'
import { checkStore, leftOut } from '../store/store-check.ts'
import type { StoreNotice } from '../store/store-notice.ts'

export interface Readiness {
  readonly checks: readonly HealthCheck[]
  /** Checks whether the store responds and is writable. */
  readonly store: HealthCheck
  /** Makes the server permanently unready. */
  stopping(): void
}

export interface ReadinessParts {
  readonly store: Store
  readonly caches: Caches
  readonly failed: Promise<StoreError>
  readonly notice: StoreNotice
  readonly missingRights: MissingRights
  readonly backups: { note(): string | undefined }
  /** Aborts when the server is about to stop. */
  readonly stopping: AbortSignal
}

export function readinessOf(parts: ReadinessParts): Readiness {
  const { store, caches, failed, notice, missingRights, backups, stopping } = parts
  let failure: StoreError | undefined
  void failed.then((error) => {
    failure = error
  })
  let isStopping = false
  const ofStore = {
    name: 'store',
    check: () => checkStore(store, caches, failure),
    note: () => notice.note(),
    unavailable: true,
  }
  return {
    store: ofStore,
    checks: [
      ofStore,
      { name: 'objects', check: () => undefined, note: () => leftOut(caches) },
      { name: 'loops', check: () => undefined, note: () => missingRights.note() },
      { name: 'backups', check: () => undefined, note: () => backups.note() },
      {
        name: 'shutdown',
        check: () => (isStopping || stopping.aborted ? 'the server is stopping' : undefined),
        unavailable: true,
      },
    ],
    stopping: () => {
      isStopping = true
    },
  }
}
