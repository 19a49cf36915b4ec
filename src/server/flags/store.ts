/** Flags of the store: the embedded one in a directory, or etcd. */
import { flag, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { list, readTime } from './values.ts'

export const storeFlags = {
  dataDir: flag(
    'data-dir',
    'DIR',
    '.orch/data',
    readDirectory,
    'directory of the embedded store and the self-made certificates; one server at a time may use it',
  ),
  etcdServers: flag(
    'etcd-servers',
    'URLS',
    '',
    readServers,
    'members of an etcd cluster to use in place of the embedded store, separated by commas',
  ),
  etcdPrefix: flag('etcd-prefix', 'PATH', '/orch/', readPrefix, 'prefix of all keys in etcd'),
  etcdCafile: flag('etcd-cafile', 'FILE', '', text, 'PEM bundle of the CAs that verify the members of etcd'),
  etcdCertfile: flag('etcd-certfile', 'FILE', '', text, 'PEM client certificate for etcd'),
  etcdKeyfile: flag('etcd-keyfile', 'FILE', '', text, 'PEM private key of --etcd-certfile'),
  encryptionProviderConfig: flag(
    'encryption-provider-config',
    'FILE',
    '',
    text,
    'EncryptionConfiguration file: which resources are encrypted in the store, and with which keys',
  ),
  historyDuration: flag(
    'history-duration',
    'TIME',
    '5m',
    readHistory,
    'time that old versions are kept for watches and paged lists',
  ),
  historyRetention: flag(
    'history-retention',
    'TIME[,SIZE]',
    '',
    readRetention,
    'time and size that the history of objects is kept for, 0 for none; by default 24h,256Mi, and none on etcd',
  ),
  historySecretValues: toggle('history-secret-values', 'keep and show values of Secrets in the history of objects'),
  eventTtl: flag(
    'event-ttl',
    'TIME',
    '1h0m0s',
    readTtl,
    'time that events are kept after their last write; they expire within seconds after it, never before',
  ),
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
