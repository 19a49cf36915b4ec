/**
 * Opens the store that a command reads or loads. Servers can use the store at the same time only if the store is in
 * etcd.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../base/flags/flags.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Store, StoreError } from '../../storage/store/store.ts'
import type { Load, StoreLoader } from '../../storage/store/store-load.ts'
import type { StorePlace } from '../flags/backup.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'

/**
 * History retention in milliseconds. The retention exceeds the run time of any command, because commands must not
 * compact the history.
 */
const historyMs = 24 * 3_600_000
const retention = { time: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, withoutValues: [] }

/** Throws UsageError unless the flags name exactly one kind of store. */
export function assertOneStore({ dataDir, etcdServers }: StorePlace, names: readonly [string, string]): void {
  const count = (dataDir === '' ? 0 : 1) + (etcdServers.length === 0 ? 0 : 1)
  if (count !== 1) throw new UsageError(`specify either --${names[0]} or --${names[1]}`)
}

/** Opens an existing store. While a command uses it, no key expires and no history is compacted. */
export async function openCommandStore(place: StorePlace, warn: (text: string) => void): Promise<Store> {
  if (place.etcdServers.length > 0) {
    const { EtcdStore } = await import('../../storage/store/etcd/store.ts')
    return await EtcdStore.open({ ...etcdOf(place), historyMs, onWarning: warn, onWaiting: warn })
  }
  const directory = place.dataDir
  assertContainsStore(directory)
  const { LmdbStore } = await import('../../storage/store/lmdb/store.ts')
  const clock = { ...systemClock, every: () => () => {} }
  return await LmdbStore.open({ directory, historyMs, retention, clock, onWarning: warn })
}

/**
 * Throws StoreError if a directory contains no store. Commands call this function first, because opening a store
 * creates it if it does not exist.
 */
export function assertContainsStore(directory: string): void {
  if (!existsSync(join(directory, 'data.mdb'))) throw new StoreError(`${directory} does not contain a store`)
}

/** Opens a store for loading a backup. The store must be empty. */
export async function loadIntoStore(place: StorePlace, load: Load): Promise<StoreLoader> {
  if (place.etcdServers.length > 0) {
    const { loadEtcd } = await import('../../storage/store/etcd/load-etcd.ts')
    return await loadEtcd(etcdOf(place), load)
  }
  const { loadDirectory } = await import('../../storage/store/lmdb/load-directory.ts')
  return await loadDirectory(place.dataDir, load)
}

/** Returns the options for connecting to a store's etcd. */
export function etcdOf(place: Omit<StorePlace, 'dataDir'>) {
  const { etcdServers, etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile } = place
  if ((etcdCertfile === '') !== (etcdKeyfile === ''))
    throw new UsageError('the client certificate and the key for etcd must be specified together')
  return {
    endpoints: etcdServers,
    prefix: etcdPrefix,
    tls: {
      ...(etcdCafile === '' ? {} : { ca: readFlagFile('etcd-cafile', etcdCafile) }),
      ...(etcdCertfile === ''
        ? {}
        : { cert: readFlagFile('etcd-certfile', etcdCertfile), key: readFlagFile('etcd-keyfile', etcdKeyfile) }),
    },
  }
}
