/** Flags of the commands that copy, check and move stores, and of the backups that a server makes by itself. */

import { profileNames } from '../../api/model/vendor.ts'
import { type Flags, flag, type OptionsOf, oneOf, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { readPrefix, readServers, readTtl } from './store.ts'
import { readTime } from './values.ts'

/** Where a store is, for a command that works on it by itself. */
const placeFlags = {
  dataDir: flag({
    name: 'data-dir',
    value: 'DIR',
    read: text,
    help: 'directory of an embedded store that no server uses',
  }),
  etcdServers: flag({
    name: 'etcd-servers',
    value: 'URLS',
    read: readServers,
    help: 'members of an etcd cluster, separated by commas',
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
    help: 'PEM bundle of the CAs that verify the members of etcd',
  }),
  etcdCertfile: flag({ name: 'etcd-certfile', value: 'FILE', read: text, help: 'PEM client certificate for etcd' }),
  etcdKeyfile: flag({ name: 'etcd-keyfile', value: 'FILE', read: text, help: 'PEM private key of --etcd-certfile' }),
}

/** Where a store is: in a directory, or in etcd. */
export type StorePlace = OptionsOf<typeof placeFlags>

const eventTtl = flag({
  name: 'event-ttl',
  value: 'TIME',
  default: '1h0m0s',
  read: readTtl,
  help: 'time that events are kept from now on',
})

/** Flags of `orch backup`. */
export const backupFlags = {
  to: flag({
    name: 'to',
    value: 'FILE',
    read: readRequired,
    help: 'file to write, which must not exist; - for the standard output',
  }),
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'client config of an administrator; by default that of orchctl',
  }),
  ...placeFlags,
}

/** Flags of `orch restore`. */
export const restoreFlags = {
  from: flag({ name: 'from', value: 'FILE', read: readRequired, help: 'backup to read; - for the standard input' }),
  ...placeFlags,
  profile: flag({ name: 'profile', value: 'NAME', read: readProfile, help: 'profile that the backup must be of' }),
  eventTtl,
}

/** Flags of `orch check`. */
export const checkFlags = {
  backup: flag({ name: 'backup', value: 'FILE', read: text, help: 'backup to check; - for the standard input' }),
  ...placeFlags,
  encryptionProviderConfig: flag({
    name: 'encryption-provider-config',
    value: 'FILE',
    read: text,
    help: 'EncryptionConfiguration file of the servers, to look into what is encrypted in a store',
  }),
  setAside: flag({
    name: 'set-aside',
    value: 'FILE',
    read: text,
    help: 'file to move what is damaged to, out of the store',
  }),
}

/** Flags of `orch migrate`. */
export const migrateFlags = {
  fromDataDir: flag({
    name: 'from-data-dir',
    value: 'DIR',
    read: text,
    help: 'embedded store to copy, which no server uses',
  }),
  fromEtcdServers: flag({
    name: 'from-etcd-servers',
    value: 'URLS',
    read: readServers,
    help: 'members of the etcd cluster to copy from',
  }),
  fromEtcdPrefix: flag({
    name: 'from-etcd-prefix',
    value: 'PATH',
    read: readOptionalPrefix,
    help: 'prefix of the keys to copy; /orch/ by default, /registry/ of a kube-apiserver',
  }),
  fromEtcdCafile: flag({
    name: 'from-etcd-cafile',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of the CAs that verify --from-etcd-servers',
  }),
  fromEtcdCertfile: flag({
    name: 'from-etcd-certfile',
    value: 'FILE',
    read: text,
    help: 'PEM client certificate for --from-etcd-servers',
  }),
  fromEtcdKeyfile: flag({
    name: 'from-etcd-keyfile',
    value: 'FILE',
    read: text,
    help: 'PEM private key of --from-etcd-certfile',
  }),
  fromKubernetes: toggle({ name: 'from-kubernetes', help: '--from-etcd-servers is the etcd of a kube-apiserver' }),
  ...placeFlags,
  eventTtl,
}

/** By the name of the command, for the help. */
export const backupCommandFlags: { readonly [command: string]: Flags } = {
  backup: backupFlags,
  restore: restoreFlags,
  check: checkFlags,
  migrate: migrateFlags,
}

/** Of the server itself. */
export const scheduledBackupFlags = {
  backupDir: flag({
    name: 'backup-dir',
    value: 'DIR',
    read: text,
    help: 'directory for backups that the server makes; empty for none',
  }),
  backupInterval: flag({
    name: 'backup-interval',
    value: 'TIME',
    default: '1h',
    read: readInterval,
    help: 'time between two backups in --backup-dir',
  }),
  backupKeep: flag({
    name: 'backup-keep',
    value: 'COUNT',
    default: '24',
    read: readKeep,
    help: 'number of backups in --backup-dir; older ones are deleted',
  }),
}

function readRequired(value: string): string {
  if (value === '') throw new UsageError('it is needed: name a file, or - for a pipe')
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
  if (ms < 1000 || ms > 24 * 24 * 3_600_000) throw new UsageError('backups are made every 1s to 576h')
  return ms
}

function readKeep(value: string): number {
  const count = /^\d{1,6}$/.test(value) ? Number(value) : 0
  if (count < 1) throw new UsageError(`${JSON.stringify(value)} is not a number of backups: use one such as 24`)
  return count
}
