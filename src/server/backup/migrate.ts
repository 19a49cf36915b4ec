/** Implements `orch migrate`, which copies a store into an empty store. The source may be a kube-apiserver's etcd. */

import { type EmulatedVersion, oldestVersion } from '../../api/versions/emulated-version.ts'
import { KubeSnapshot } from '../../apiserver/backup/kube-snapshot.ts'
import { revisionAbove } from '../../apiserver/backup/load.ts'
import { type Snapshot, snapshotOf } from '../../apiserver/backup/snapshot.ts'
import { type OptionsOf, UsageError } from '../../base/flags/flags.ts'
import type { migrateFlags, StorePlace } from '../flags/backup.ts'
import { withAuthorities } from './authorities.ts'
import { fill } from './commands.ts'
import { assertOneStore, etcdOf, openCommandStore } from './open-command-store.ts'
import { countText, type Terminal } from './progress-line.ts'

type MigrateOptions = OptionsOf<typeof migrateFlags>

interface Source extends AsyncDisposable {
  /** Path or address of the source, for messages. */
  readonly id: string
  readonly snapshot: Snapshot
  /** Prints a report after all entries have been copied. */
  report(terminal: Terminal): void
}

export async function migrate(options: MigrateOptions, terminal: Terminal): Promise<void> {
  const from = sourcePlace(options)
  assertOneStore(from, ['from-data-dir', 'from-etcd-servers'])
  assertOneStore(options, ['data-dir', 'etcd-servers'])
  if (options.fromKubernetes && from.dataDir !== '')
    throw new UsageError('--from-kubernetes requires --from-etcd-servers')
  if (!options.fromKubernetes && options.emulatedVersion !== undefined)
    throw new UsageError(
      '--emulated-version requires --from-kubernetes: without it, the copy keeps the version recorded in the source',
    )
  await using source = options.fromKubernetes
    ? await ofKubernetes(from, options.emulatedVersion ?? oldestVersion)
    : await ofStore(from, terminal)
  const { snapshot, id } = source
  const now = Date.now()
  const load = { id: `${id} ${snapshot.revision}`, above: revisionAbove(snapshot.revision, now, now) }
  const revision = await fill(options, { load, pages: snapshot.pages, ttlMs: options.eventTtl }, terminal)
  terminal.print(`copied ${id} at revision ${snapshot.revision}; the copy is at revision ${revision}`)
  source.report(terminal)
}

function sourcePlace(options: MigrateOptions): StorePlace {
  const { fromEtcdPrefix, fromKubernetes } = options
  return {
    dataDir: options.fromDataDir,
    etcdServers: options.fromEtcdServers,
    etcdPrefix: fromEtcdPrefix === '' ? (fromKubernetes ? '/registry/' : '/orch/') : fromEtcdPrefix,
    etcdCafile: options.fromEtcdCafile,
    etcdCertfile: options.fromEtcdCertfile,
    etcdKeyfile: options.fromEtcdKeyfile,
  }
}

async function ofStore(place: StorePlace, terminal: Terminal): Promise<Source> {
  const store = await openCommandStore(place, terminal.warn)
  const { revision, pages } = await snapshotOf(store)
  const { dataDir } = place
  return {
    id: dataDir === '' ? `${place.etcdServers.join(',')}${place.etcdPrefix}` : dataDir,
    snapshot: { revision, pages: () => (dataDir === '' ? pages() : withAuthorities(pages(), dataDir)) },
    report: () => {},
    [Symbol.asyncDispose]: () => store.close(),
  }
}

async function ofKubernetes(place: StorePlace, version: EmulatedVersion): Promise<Source> {
  const { EtcdReader } = await import('../../storage/store/etcd/read-only.ts')
  const { endpoints, tls } = etcdOf(place)
  const reader = await EtcdReader.open({ endpoints, tls })
  const { etcdPrefix } = place
  const prefix = etcdPrefix.endsWith('/') ? etcdPrefix : `${etcdPrefix}/`
  const snapshot = new KubeSnapshot(reader, { prefix, version })
  return {
    id: `${endpoints.join(',')}${prefix}`,
    snapshot: { revision: snapshot.revision, pages: () => snapshot.pages() },
    report: ({ print }) => {
      for (const { why, count, example } of snapshot.leftBehind.values())
        print(`not copied: ${countText(count, 'key')} such as ${example}: ${why}`)
    },
    [Symbol.asyncDispose]: async () => reader.close(),
  }
}
