/** Flags of the store: the embedded one in a directory, or etcd. */
import { flag, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { list, readTime } from './values.ts'

export const storeFlags = {
  dataDir: flag({
    name: 'data-dir',
    value: 'DIR',
    default: '.orch/data',
    read: readDirectory,
    help: 'directory of the embedded store and the self-made certificates; one server at a time may use it',
  }),
  etcdServers: flag({
    name: 'etcd-servers',
    value: 'URLS',
    read: readServers,
    help: 'members of an etcd cluster to use in place of the embedded store, separated by commas',
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
  encryptionProviderConfig: flag({
    name: 'encryption-provider-config',
    value: 'FILE',
    read: text,
    help: 'EncryptionConfiguration file: which resources are encrypted in the store, and with which keys',
  }),
  historyDuration: flag({
    name: 'history-duration',
    value: 'TIME',
    default: '5m',
    read: readHistory,
    help: 'time that old versions are kept for watches and paged lists',
  }),
  historyRetention: flag({
    name: 'history-retention',
    value: 'TIME[,SIZE]',
    read: readRetention,
    help: 'time and size that the history of objects is kept for, 0 for none; by default 24h,256Mi, and none on etcd',
  }),
  historySecretValues: toggle({
    name: 'history-secret-values',
    help: 'keep and show values of Secrets in the history of objects',
  }),
  eventTtl: flag({
    name: 'event-ttl',
    value: 'TIME',
    default: '1h0m0s',
    read: readTtl,
    help: 'time that events are kept after their last write; they expire within seconds after it, never before',
  }),
}

function readDirectory(value: string): string {
  if (value === '') throw new UsageError('a directory is needed')
  return value
}

/** Addresses of members of etcd. */
export function readServers(value: string): string[] {
  return list(value).map((item) => {
    const url = URL.canParse(item) ? new URL(item) : undefined
    if (
      url === undefined ||
      !/^https?:$/.test(url.protocol) ||
      url.pathname !== '/' ||
      url.search !== '' ||
      url.username !== ''
    ) {
      throw new UsageError(
        `${JSON.stringify(item)} is not the address of a member: use one such as https://10.0.0.1:2379`,
      )
    }
    return url.origin
  })
}

/** A prefix of keys in etcd. */
export function readPrefix(value: string): string {
  if (!/^\/[!-~]{0,200}$/.test(value))
    throw new UsageError(`${JSON.stringify(value)} is not a prefix: use one such as /orch/`)
  return value
}

/** A lifetime of events, in milliseconds. */
export function readTtl(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 10_000 * 3_600_000) throw new UsageError('events are kept for 1s to 10000h')
  return ms
}

/** How long and how large. */
export interface KeptHistory {
  readonly time: number
  readonly bytes: number
}

function readRetention(value: string): KeptHistory | undefined {
  if (value === '') return undefined
  const [text = '', size, ...more] = value.split(',')
  const time = text === '0' ? 0 : readTime(text)
  const bytes = size === undefined ? defaultHistoryBytes : readSize(size)
  if (more.length > 0 || bytes === undefined || bytes < 2 ** 20 || time > 10_000 * 3_600_000)
    throw new UsageError(`${JSON.stringify(value)} is not a time of up to 10000h and a size from 1Mi on: use 24h,256Mi`)
  return { time, bytes }
}

const defaultHistoryBytes = 256 * 2 ** 20

function readSize(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})(Ki|Mi|Gi|Ti)$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * 2 ** (10 * (['Ki', 'Mi', 'Gi', 'Ti'].indexOf(unit!) + 1))
}

function readHistory(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 24 * 3_600_000) throw new UsageError('history is kept for 1s to 24h')
  return ms
}
