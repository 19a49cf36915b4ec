/** Defines the flags of `orch backup`, `restore`, `check` and `migrate`, and the flags for scheduled backups. */

import { profileNames } from '../../api/model/vendor.ts'
import { newestVersion, oldestVersion } from '../../api/versions/emulated-version.ts'
import { type Flags, flag, ifGiven, type OptionsOf, oneOf, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { readEmulatedVersion } from './emulated-version.ts'
import { readPrefix, readServers, readTtl } from './store.ts'
import { readTime } from './values.ts'

/** Flags that locate a store, for commands that open the store directly. */
const placeFlags = {
  dataDir: flag({
    name: 'data-dir',
    value: 'DIR',
    read: text,
    help: 'directory of an embedded store; no running server may use the directory',
  }),
  etcdServers: flag({
    name: 'etcd-servers',
    value: 'URLS',
    read: readServers,
    help: 'URLs of the etcd members, separated by commas',
  }),
  etcdPrefix: flag({
    name: 'etcd-prefix',
    value: 'PATH',
    default: '/orch/',
    read: readPrefix,
    help: 'prefix of all keys in etcd',
  }),
  etcdCafile: flag({
    name: 'etcd-cafile',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs for verifying the certificates of the etcd members',
  }),
  etcdCertfile: flag({ name: 'etcd-certfile', value: 'FILE', read: text, help: 'PEM client certificate for etcd' }),
  etcdKeyfile: flag({ name: 'etcd-keyfile', value: 'FILE', read: text, help: 'PEM private key for --etcd-certfile' }),
}

/** Parsed flags that locate a store: a data directory or etcd. */
export type StorePlace = OptionsOf<typeof placeFlags>

const eventTtl = flag({
  name: 'event-ttl',
  value: 'TIME',
  default: '1h0m0s',
  read: readTtl,
  help: 'lifetime of the copied events',
})

/** The flags of `orch backup`. */
export const backupFlags = {
  to: flag({
    name: 'to',
    value: 'FILE',
    read: readRequired,
    help: 'file to write, which must not exist yet; - for standard output',
  }),
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: "administrator's kubeconfig; defaults to the kubeconfig that orchctl uses",
  }),
  ...placeFlags,
}

/** The flags of `orch restore`. */
export const restoreFlags = {
  from: flag({ name: 'from', value: 'FILE', read: readRequired, help: 'backup file to read; - for standard input' }),
  ...placeFlags,
  profile: flag({
    name: 'profile',
    value: 'NAME',
    read: readProfile,
    help: 'expected profile of the backup; the command fails if the backup has a different profile',
  }),
  eventTtl,
}

/** The flags of `orch check`. */
export const checkFlags = {
  backup: flag({ name: 'backup', value: 'FILE', read: text, help: 'backup file to check; - for standard input' }),
  ...placeFlags,
  encryptionProviderConfig: flag({
    name: 'encryption-provider-config',
    value: 'FILE',
    read: text,
    help: 'EncryptionConfiguration file of the servers; required to check encrypted objects in a store',
  }),
  setAside: flag({
    name: 'set-aside',
    value: 'FILE',
    read: text,
    help: 'file to which damaged objects are moved from the store',
  }),
}

/** The flags of `orch migrate`. */
export const migrateFlags = {
  fromDataDir: flag({
    name: 'from-data-dir',
    value: 'DIR',
    read: text,
    help: 'directory of the embedded store to copy; it must not be in use by a running server',
  }),
  fromEtcdServers: flag({
    name: 'from-etcd-servers',
    value: 'URLS',
    read: readServers,
    help: 'URLs of the etcd members to copy from',
  }),
  fromEtcdPrefix: flag({
    name: 'from-etcd-prefix',
    value: 'PATH',
    read: readOptionalPrefix,
    help: 'prefix of the keys to copy; defaults to /orch/, or to /registry/ with --from-kubernetes',
  }),
  fromEtcdCafile: flag({
    name: 'from-etcd-cafile',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs for verifying the certificates of the etcd members in --from-etcd-servers',
  }),
  fromEtcdCertfile: flag({
    name: 'from-etcd-certfile',
    value: 'FILE',
    read: text,
    help: 'PEM client certificate for the etcd members in --from-etcd-servers',
  }),
  fromEtcdKeyfile: flag({
    name: 'from-etcd-keyfile',
    value: 'FILE',
    read: text,
    help: 'PEM private key for --from-etcd-certfile',
  }),
  fromKubernetes: toggle({
    name: 'from-kubernetes',
    help: 'treat --from-etcd-servers as the etcd cluster of a kube-apiserver',
  }),
  emulatedVersion: ifGiven(
    flag({
      name: 'emulated-version',
      value: 'VERSION',
      read: readEmulatedVersion,
      help: `with --from-kubernetes: Kubernetes version of the kube-apiserver that wrote the data, from ${oldestVersion} to ${newestVersion}; the new store records this version; defaults to ${oldestVersion}`,
    }),
  ),
  ...placeFlags,
  eventTtl,
}

/** Flags by command name, for the help text. */
export const backupCommandFlags: { readonly [command: string]: Flags } = {
  backup: backupFlags,
  restore: restoreFlags,
  check: checkFlags,
  migrate: migrateFlags,
}

/** The flags for backups that a running server makes on its own. */
export const scheduledBackupFlags = {
  backupDir: flag({
    name: 'backup-dir',
    value: 'DIR',
    read: text,
    help: 'directory for scheduled backups; empty disables scheduled backups',
  }),
  backupInterval: flag({
    name: 'backup-interval',
    value: 'TIME',
    default: '1h',
    read: readInterval,
    help: 'time between scheduled backups, from 1s to 576h',
  }),
  backupKeep: flag({
    name: 'backup-keep',
    value: 'COUNT',
    default: '24',
    read: readKeep,
    help: 'number of scheduled backups to keep; the server deletes older backups',
  }),
}

function readRequired(value: string): string {
  if (value === '') throw new UsageError('a value is required: specify a file, or - for standard input or output')
  return value
}

function readProfile(value: string): string {
  return value === '' ? value : oneOf(profileNames)(value)
}

function readOptionalPrefix(value: string): string {
  return value === '' ? value : readPrefix(value)
}

function readInterval(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 24 * 24 * 3_600_000) throw new UsageError('must be a duration from 1s to 576h')
  return ms
}

function readKeep(value: string): number {
  const count = /^\d{1,6}$/.test(value) ? Number(value) : 0
  if (count < 1)
    throw new UsageError(`${JSON.stringify(value)} is not a valid number of backups: use a number such as 24`)
  return count
}
