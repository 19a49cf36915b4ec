/** The store that all workers share. The supervisor owns the embedded store, or the only watch on etcd. */

import type { Log } from '../../base/telemetry/log.ts'
import type { StoreError } from '../../storage/store/store.ts'
import type { ServerOptions } from '../flags/options.ts'
import { assertNoEtcdFiles, backgroundCheck, embeddedListeners, openingEtcd, retentionOf } from '../store/store.ts'
import type { StoreAccess } from '../threads/worker-context.ts'

export interface SharedStore {
  /** Connects one additional worker. The result is transferred to that worker. */
  connect(): Promise<StoreAccess>
  close(): Promise<void>
}

export interface SharedStoreDependencies {
  /** Called when the store fails permanently. Never called for etcd, because etcd may always recover. */
  readonly onFailed: (error: StoreError) => void
  readonly log: Log
  /** Aborts when the server is stopped during its start. */
  readonly stopping: AbortSignal
}

export async function openSharedStore(
  options: ServerOptions,
  dependencies: SharedStoreDependencies,
): Promise<SharedStore> {
  return options.etcdServers.length > 0
    ? await openEtcd(options, dependencies)
    : await openEmbedded(options, dependencies)
}

async function openEmbedded(options: ServerOptions, { onFailed, log }: SharedStoreDependencies): Promise<SharedStore> {
  assertNoEtcdFiles(options)
  const { StoreHub } = await import('../../storage/store/lmdb/hub.ts')
  const hub = await StoreHub.open({
    directory: options.dataDir,
    historyMs: options.historyDuration,
    retention: retentionOf(options),
    backgroundCheck,
    ...embeddedListeners({ onFailed, onCapacity: () => {}, log }),
  })
  return {
    connect: async () => ({ type: 'embedded', access: await hub.connect() }),
    close: () => hub.close(),
  }
}

async function openEtcd(options: ServerOptions, { log, stopping }: SharedStoreDependencies): Promise<SharedStore> {
  const { EtcdHub } = await import('../../storage/store/etcd/hub.ts')
  const hub = await openingEtcd(options, { log, stopping }, (etcd) => EtcdHub.open(etcd))
  return {
    connect: async () => ({ type: 'etcd', access: await hub.connect() }),
    close: () => hub.close(),
  }
}
