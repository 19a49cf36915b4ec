/** Flags of the commands that copy, check and move stores, and of the backups that a server makes by itself. */

import { profileNames } from '../../api/model/vendor.ts'
import { type Flags, flag, type OptionsOf, oneOf, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { readPrefix, readServers, readTtl } from './store.ts'
import { readTime } from './values.ts'

/** Where a store is, for a command that works on it by itself. */
const placeFlags = {
  dataDir: flag('data-dir', 'DIR', '', text, 'directory of an embedded store that no server uses'),
  etcdServers: flag('etcd-servers', 'URLS', '', readServers, 'members of an etcd cluster, separated by commas'),
  etcdPrefix: flag('etcd-prefix', 'PATH', '/orch/', readPrefix, 'prefix of all keys in etcd'),
  etcdCafile: flag('etcd-cafile', 'FILE', '', text, 'PEM bundle of the CAs that verify the members of etcd'),
  etcdCertfile: flag('etcd-certfile', 'FILE', '', text, 'PEM client certificate for etcd'),
  etcdKeyfile: flag('etcd-keyfile', 'FILE', '', text, 'PEM private key of --etcd-certfile'),
}

/** Where a store is: in a directory, or in etcd. */
export type StorePlace = OptionsOf<typeof placeFlags>

const eventTtl = flag('event-ttl', 'TIME', '1h0m0s', readTtl, 'time that events are kept from now on')

export const backupFlags = {
  to: flag('to', 'FILE', '', readRequired, 'file to write, which must not exist; - for the standard output'),
  kubeconfig: flag('kubeconfig', 'FILE', '', text, 'client config of an administrator; by default that of orchctl'),
  ...placeFlags,
}

export const restoreFlags = {
  from: flag('from', 'FILE', '', readRequired, 'backup to read; - for the standard input'),
  ...placeFlags,
  profile: flag('profile', 'NAME', '', readProfile, 'profile that the backup must be of'),
  eventTtl,
}

export const checkFlags = {
  backup: flag('backup', 'FILE', '', text, 'backup to check; - for the standard input'),
  ...placeFlags,
  encryptionProviderConfig: flag(
    'encryption-provider-config',
    'FILE',
    '',
    text,
    'EncryptionConfiguration file of the servers, to look into what is encrypted in a store',
  ),
  setAside: flag('set-aside', 'FILE', '', text, 'file to move what is damaged to, out of the store'),
}

export const migrateFlags = {
  fromDataDir: flag('from-data-dir', 'DIR', '', text, 'embedded store to copy, which no server uses'),
  fromEtcdServers: flag('from-etcd-servers', 'URLS', '', readServers, 'members of the etcd cluster to copy from'),
  fromEtcdPrefix: flag(
    'from-etcd-prefix',
    'PATH',
    '',
    readOptionalPrefix,
    'prefix of the keys to copy; /orch/ by default, /registry/ of a kube-apiserver',
  ),
  fromEtcdCafile: flag('from-etcd-cafile', 'FILE', '', text, 'PEM bundle of the CAs that verify --from-etcd-servers'),
  fromEtcdCertfile: flag('from-etcd-certfile', 'FILE', '', text, 'PEM client certificate for --from-etcd-servers'),
  fromEtcdKeyfile: flag('from-etcd-keyfile', 'FILE', '', text, 'PEM private key of --from-etcd-certfile'),
  fromKubernetes: toggle('from-kubernetes', '--from-etcd-servers is the etcd of a kube-apiserver'),
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
  backupDir: flag('backup-dir', 'DIR', '', text, 'directory for backups that the server makes; empty for none'),
  backupInterval: flag('backup-interval', 'TIME', '1h', readInterval, 'time between two backups in --backup-dir'),
  backupKeep: flag('backup-keep', 'COUNT', '24', readKeep, 'number of backups in --backup-dir; older ones are deleted'),
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
