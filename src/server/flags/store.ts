/** Flags of the store: the embedded store in a directory, or etcd. */
import { flag, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { list, readTime } from './values.ts'

export const storeFlags = {
  dataDir: flag({
    name: 'data-dir',
    value: 'DIR',
    default: '.orch/data',
    read: readDirectory,
    help: 'directory for the embedded store and the generated certificates; only one server can use the directory at a time',
  }),
  etcdServers: flag({
    name: 'etcd-servers',
    value: 'URLS',
    read: readServers,
    help: 'URLs of etcd members, separated by commas; used instead of the embedded store',
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
  encryptionProviderConfig: flag({
    name: 'encryption-provider-config',
    value: 'FILE',
    read: text,
    help: 'EncryptionConfiguration file, which specifies the resources to encrypt in the store and the encryption keys',
  }),
  historyDuration: flag({
    name: 'history-duration',
    value: 'TIME',
    default: '5m',
    read: readHistory,
    help: 'time to keep old versions of objects for watches and paged lists, from 1s to 24h',
  }),
  historyRetention: flag({
    name: 'history-retention',
    value: 'TIME[,SIZE]',
    read: readRetention,
    help: 'maximum age and size of the object history; 0 disables the history; defaults to 24h,256Mi, or to 0 with etcd',
  }),
  historySecretValues: toggle({
    name: 'history-secret-values',
    help: 'include Secret values in the object history',
  }),
  eventTtl: flag({
    name: 'event-ttl',
    value: 'TIME',
    default: '1h0m0s',
    read: readTtl,
    help: 'lifetime of events after their last write, from 1s to 10000h; expired events are deleted within seconds',
  }),
}

function readDirectory(value: string): string {
  if (value === '') throw new UsageError('the name of a directory is required')
  return value
}

/** Parses URLs of etcd members. */
export function readServers(value: string): string[] {
  return list(value).map((item) => {
    const url = URL.canParse(item) ? new URL(item) : undefined
    // Do not quote the URL in this error, because it contains the password.
    if (url !== undefined && (url.username !== '' || url.password !== ''))
      throw new UsageError(
        `the etcd endpoint ${url.host} contains a user name or a password: use --etcd-certfile instead`,
      )
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '') {
      throw new UsageError(`${JSON.stringify(item)} is not an etcd endpoint: use a URL such as https://10.0.0.1:2379`)
    }
    return url.origin
  })
}

/** Parses a key prefix in etcd. */
export function readPrefix(value: string): string {
  if (!/^\/[!-~]{0,200}$/.test(value))
    throw new UsageError(`${JSON.stringify(value)} is not a valid prefix: use a prefix such as /orch/`)
  return value
}

/** Parses the lifetime of events. Returns milliseconds. */
export function readTtl(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 10_000 * 3_600_000) throw new UsageError('must be a duration from 1s to 10000h')
  return ms
}

/** Limits on the object history: `time` is the maximum age in milliseconds, and `bytes` the maximum size. */
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
    throw new UsageError(
      `${JSON.stringify(value)} is not a duration of up to 10000h and a size of at least 1Mi, such as 24h,256Mi`,
    )
  return { time, bytes }
}

const defaultHistoryBytes = 256 * 2 ** 20

function readSize(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})(Ki|Mi|Gi|Ti)$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * 2 ** (10 * (['Ki', 'Mi', 'Gi', 'Ti'].indexOf(unit!) + 1))
}

function readHistory(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 24 * 3_600_000) throw new UsageError('must be a duration from 1s to 24h')
  return ms
}
