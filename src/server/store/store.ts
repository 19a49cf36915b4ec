/** Opens the store specified by the options: the embedded store or etcd. Loads only the code for that type of store. */

import { resolve } from 'node:path'
import { allKinds } from '../../api/kinds/all.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { prefixOf } from '../../storage/cache/caches.ts'
import { encryptedStore } from '../../storage/encryption/encrypted-store.ts'
import type { EtcdOptions } from '../../storage/store/etcd/store.ts'
import type { OnCapacity } from '../../storage/store/fullness.ts'
import type { EmbeddedOptions } from '../../storage/store/lmdb/embedded-store.ts'
import type { BackgroundCheckOptions } from '../../storage/store/lmdb/messages.ts'
import { type Retention, type Store, StoreError } from '../../storage/store/store.ts'
import type { ServerOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { ReadSize, StoreMetrics } from '../telemetry/store-metrics.ts'
import type { StoreAccess, WorkerContext } from '../threads/worker-context.ts'
import { readEncryptionFile } from './encryption.ts'
import { StoreNotice } from './store-notice.ts'

export interface OpenStore {
  readonly store: Store
  /** The store for backups, which returns values as stored, possibly encrypted. */
  readonly raw: Store
  /**
   * Resolves with the reason when the store fails permanently. Never resolves for etcd, because etcd may always
   * recover.
   */
  readonly failed: Promise<StoreError>
  readonly notice: StoreNotice
}

/** Opens the store specified by the options. Throws UsageError or StoreError if the store cannot be used. */
export async function openStore(
  options: ServerOptions,
  { log, clock, metrics, providedStore, worker, stopping }: StoreDependencies,
): Promise<OpenStore> {
  const { promise: failed, resolve: onFailed } = Promise.withResolvers<StoreError>()
  const onEtcd = options.etcdServers.length > 0
  const notice = new StoreNotice(log, clock, onEtcd ? remedies.etcd : remedies.embedded)
  const onCapacity: OnCapacity = (now) => {
    notice.onCapacity(now)
    metrics.onCapacity(now)
  }
  const listeners = { onFailed, onCapacity, log, stopping }
  const open = () => {
    if (worker !== undefined) return openShared(options, listeners, worker.store)
    return onEtcd ? openEtcd(options, listeners) : openEmbedded(options, { ...listeners, backgroundCheck })
  }
  const encrypted = await readEncryptionFile(options)
  const raw = providedStore ?? (await open())
  if (providedStore === undefined) {
    metrics.showSize(await sizeReader(options, raw))
    metrics.showLocation(onEtcd ? options.etcdServers.join() : resolve(options.dataDir))
  }
  const store = encrypted === undefined ? raw : encryptedStore(raw, encrypted)
  return { store: metrics.measured(store), raw, failed, notice }
}

/**
 * Returns a function that reads the size of the store. For the embedded store, each thread reads the size of its file.
 */
async function sizeReader({ dataDir }: ServerOptions, store: Store): Promise<ReadSize> {
  if (store.size !== undefined) return store.size.bind(store)
  const { dataFileSize } = await import('../../storage/store/lmdb/directory.ts')
  return () => dataFileSize(dataDir)
}

interface StoreDependencies {
  readonly log: Log
  readonly clock: Clock
  readonly metrics: StoreMetrics
  readonly providedStore?: Store | undefined
  readonly worker?: WorkerContext | undefined
  /** Aborts when the server is stopped during its start. */
  readonly stopping: AbortSignal
}

/** Opens the store without decryption, for commands. */
export async function openRawStore(options: ServerOptions, log: Log): Promise<Store> {
  const listeners = { onFailed: () => {}, onCapacity: () => {}, log, stopping: never }
  // Always compact the history. A history may exist even without the flag, because other servers on the same etcd may
  // record one.
  const { historyRetention = usualRetention } = options
  return options.etcdServers.length > 0
    ? await openEtcd({ ...options, historyRetention }, listeners)
    : await openEmbedded(options, listeners)
}

const never = new AbortController().signal

/** Advice for administrators when the store is full, by type of store. */
const remedies = {
  embedded: 'free space on the disk of --data-dir, or delete objects',
  etcd: 'compact and defragment etcd, raise its quota if necessary, and disarm its NOSPACE alarm',
}

/**
 * Returns the key prefixes of kinds with secret fields, such as Secrets. The values of such objects are never kept in
 * the history.
 */
function secretPrefixes(): string[] {
  const secret = allKinds.filter(({ lifecycle }) => lifecycle.secretFields !== undefined)
  return secret.map(({ group, plural }) => prefixOf(group, plural))
}

/**
 * Schedule for checking the pages of a large data file. A server checks them in the background after it is ready,
 * whereas commands check them before they use the store.
 */
export const backgroundCheck: BackgroundCheckOptions = { above: 8 * 2 ** 20, delayMs: 1_000 }

interface Listeners {
  readonly onFailed: (error: StoreError) => void
  readonly onCapacity: OnCapacity
  readonly log: Log
  readonly stopping: AbortSignal
}

async function openEmbedded(
  { dataDir, historyDuration, ...options }: ServerOptions,
  { onFailed, onCapacity, log, backgroundCheck }: Listeners & { readonly backgroundCheck?: BackgroundCheckOptions },
): Promise<Store> {
  assertNoEtcdFiles(options)
  const { LmdbStore } = await import('../../storage/store/lmdb/store.ts')
  const listeners = embeddedListeners({ onFailed, onCapacity, log })
  const retention = retentionOf(options)
  return await LmdbStore.open({
    directory: dataDir,
    historyMs: historyDuration,
    retention,
    backgroundCheck,
    ...listeners,
  })
}

type EtcdFileFlags = Pick<ServerOptions, 'etcdCafile' | 'etcdCertfile' | 'etcdKeyfile'>

/** Throws UsageError if flags specify TLS files for etcd but the store is embedded. */
export function assertNoEtcdFiles(options: EtcdFileFlags): void {
  const idle = (['etcdCafile', 'etcdCertfile', 'etcdKeyfile'] as const).find((name) => options[name] !== '')
  if (idle !== undefined)
    throw new UsageError(`--${idle.toLowerCase().replace('etcd', 'etcd-')} requires --etcd-servers`)
}

/** Opens the store of a worker. Warnings about etcd are logged only once, by the thread that watches etcd. */
async function openShared(options: ServerOptions, listeners: Listeners, { type, access }: StoreAccess): Promise<Store> {
  if (type === 'embedded') {
    const { WorkerStore } = await import('../../storage/store/lmdb/worker-store.ts')
    return await WorkerStore.open(access, { ...embeddedListeners(listeners), retention: retentionOf(options) })
  }
  const [{ EtcdStore }, { RelayedGenerations }] = await Promise.all([
    import('../../storage/store/etcd/store.ts'),
    import('../../storage/store/etcd/relayed-changes.ts'),
  ])
  const { onFailed, onCapacity } = listeners
  return await EtcdStore.open({ ...etcdOptionsOf(options), onCapacity }, new RelayedGenerations(access, onFailed))
}

const usualRetention = { time: 24 * 3_600_000, bytes: 256 * 2 ** 20 }

/**
 * Returns how long the store keeps object history, and which values it omits. With etcd, history is kept only if a flag
 * enables it.
 */
export function retentionOf(
  options: Pick<ServerOptions, 'historyRetention' | 'historySecretValues' | 'etcdServers'>,
): Retention {
  const { historyRetention, historySecretValues, etcdServers } = options
  const preset = { ...usualRetention, ...(etcdServers.length > 0 ? { time: 0 } : {}) }
  return { ...preset, ...historyRetention, withoutValues: historySecretValues ? [] : secretPrefixes() }
}

/** Returns callbacks that log the warnings and errors of the embedded store. */
export function embeddedListeners({ onFailed, onCapacity, log }: Omit<Listeners, 'stopping'>): EmbeddedOptions {
  return {
    onFailed,
    onCapacity,
    onUpkeepError: ({ message }) => log.error(`cannot clean up the store: ${message}; will retry`),
    onWarning: (text) => log.warn(text),
  }
}

async function openEtcd(options: ServerOptions, { onCapacity, log, stopping }: Listeners): Promise<Store> {
  const { EtcdStore } = await import('../../storage/store/etcd/store.ts')
  return await openingEtcd(options, { log, stopping }, (etcd) => EtcdStore.open({ ...etcd, onCapacity }))
}

/** Retries until the timeout, because the store may become reachable. Stops retrying if the server is stopping. */
async function patiently<T>(milliseconds: number, stopping: AbortSignal, open: () => Promise<T>): Promise<T> {
  const end = performance.now() + milliseconds
  for (;;)
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof StoreError) || performance.now() >= end || stopping.aborted) throw error
      await pause(betweenAttemptsMs, stopping)
    }
}

const betweenAttemptsMs = 500

/**
 * Opens etcd according to the flags. During the start grace period, waits until etcd is reachable. Adds advice to the
 * warnings and errors.
 */
export async function openingEtcd<T>(
  options: ServerOptions,
  { log, stopping }: Pick<StoreDependencies, 'log' | 'stopping'>,
  open: (etcd: EtcdOptions) => Promise<T>,
): Promise<T> {
  const etcd = {
    ...etcdOptionsOf(options),
    giveUp: stopping,
    onWarning: (text: string) => log.warn(text),
    onWaiting: (why: string) => log.warn(`waiting for etcd: ${why}; ${whatToDo}`),
  }
  try {
    return await patiently(options.livezGrace, stopping, () => open(etcd))
  } catch (error) {
    throw error instanceof StoreError ? new StoreError(`${error.message}; ${whatToDo}`, { cause: error }) : error
  }
}

function etcdOptionsOf(options: ServerOptions): EtcdOptions {
  const { etcdServers, etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile, historyDuration } = options
  if ((etcdCertfile === '') !== (etcdKeyfile === ''))
    throw new UsageError('--etcd-certfile and --etcd-keyfile must be specified together')
  const tls = {
    ...(etcdCafile === '' ? {} : { ca: readFlagFile('etcd-cafile', etcdCafile) }),
    ...(etcdCertfile === ''
      ? {}
      : { cert: readFlagFile('etcd-certfile', etcdCertfile), key: readFlagFile('etcd-keyfile', etcdKeyfile) }),
  }
  return {
    endpoints: etcdServers,
    prefix: etcdPrefix,
    tls,
    historyMs: historyDuration,
    retention: retentionOf(options),
  }
}

const whatToDo = 'check that it is running and that --etcd-servers and its TLS files are correct'
