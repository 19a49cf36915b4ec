/** Opens the store that the options name: the embedded one, or etcd. Each is loaded only where it is used. */

import { UsageError } from '../base/flags.ts'
import { type Store, StoreError } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { ServerOptions } from './flags/options.ts'
import { readFlagFile } from './read-flag-file.ts'
import type { StoreMetrics } from './store-metrics.ts'

export interface OpenStore {
  readonly store: Store
  /** Resolves with the reason when the store can never be written again; etcd always may come back. */
  readonly failed: Promise<StoreError>
}

export async function openStore(options: ServerOptions, log: Log, metrics: StoreMetrics): Promise<OpenStore> {
  const { promise: failed, resolve: onFailed } = Promise.withResolvers<StoreError>()
  const store =
    options.etcdServers.length > 0 ? await openEtcd(options, log) : await openEmbedded(options, { onFailed, log })
  return { store: metrics.measured(store), failed }
}

interface Listeners {
  readonly onFailed: (error: StoreError) => void
  readonly log: Log
}

async function openEmbedded(
  { dataDir, historyDuration, ...options }: ServerOptions,
  { onFailed, log }: Listeners,
): Promise<Store> {
  const idle = (['etcdCafile', 'etcdCertfile', 'etcdKeyfile'] as const).find((name) => options[name] !== '')
  if (idle !== undefined)
    throw new UsageError(`--${idle.toLowerCase().replace('etcd', 'etcd-')} goes with --etcd-servers`)
  const { LmdbStore } = await import('../store/lmdb/store.ts')
  return await LmdbStore.open({
    directory: dataDir,
    historyMs: historyDuration,
    onFailed,
    onWarning: (text) => log.warn(text),
  })
}

async function openEtcd(options: ServerOptions, log: Log): Promise<Store> {
  const { etcdServers, etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile, historyDuration } = options
  if ((etcdCertfile === '') !== (etcdKeyfile === ''))
    throw new UsageError('--etcd-certfile and --etcd-keyfile go together')
  const tls = {
    ...(etcdCafile === '' ? {} : { ca: readFlagFile('etcd-cafile', etcdCafile) }),
    ...(etcdCertfile === ''
      ? {}
      : { cert: readFlagFile('etcd-certfile', etcdCertfile), key: readFlagFile('etcd-keyfile', etcdKeyfile) }),
  }
  const { EtcdStore } = await import('../store/etcd/store.ts')
  try {
    return await EtcdStore.open({
      endpoints: etcdServers,
      prefix: etcdPrefix,
      tls,
      historyMs: historyDuration,
      onWarning: (text) => log.warn(text),
      onWaiting: (why) => log.warn(`waiting for etcd: ${why}; ${whatToDo}`),
    })
  } catch (error) {
    throw error instanceof StoreError ? new StoreError(`${error.message}; ${whatToDo}`, { cause: error }) : error
  }
}

const whatToDo = 'check that it runs, and that --etcd-servers and the files for its TLS are right'
