/** Flags of the audit, as kube-apiserver 1.23 has them. */
import { sinkModes } from '../../apiserver/audit/sink.ts'
import { flag, oneOf, readBoolean, text, UsageError } from '../../base/flags/flags.ts'
import { readTime } from './values.ts'

const readCount = (value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a whole number`)
  return Number(value)
}

const readRate = (value: string): number => {
  const rate = Number(value)
  if (value.trim() === '' || !(rate > 0) || rate > 1e6)
    throw new UsageError(`${JSON.stringify(value)} is not a number above 0`)
  return rate
}

const count = (name: string, fallback: string, help: string) =>
  flag({ name, value: 'N', default: fallback, read: readCount, help })
const modes = `${sinkModes.join(', ')}; strictly blocking refuses a request that cannot be recorded as it arrives`

export const auditFlags = {
  auditPolicyFile: flag({
    name: 'audit-policy-file',
    value: 'FILE',
    read: text,
    help: 'audit policy: which requests are recorded, and how much of them; without one, writes are kept in memory only',
  }),
  auditLogPath: flag({
    name: 'audit-log-path',
    value: 'FILE',
    read: text,
    help: 'file to append audit events to, one JSON object per line; - is the standard output',
  }),
  auditLogFormat: flag({
    name: 'audit-log-format',
    value: 'FORMAT',
    default: 'json',
    read: oneOf(['json']),
    help: 'format of the audit log: json',
  }),
  auditLogMode: flag({
    name: 'audit-log-mode',
    value: 'MODE',
    default: 'blocking',
    read: oneOf(sinkModes),
    help: `mode of the audit log: ${modes}`,
  }),
  auditLogMaxsize: count('audit-log-maxsize', '100', 'megabytes after which the audit log is set aside'),
  auditLogMaxbackup: count('audit-log-maxbackup', '0', 'audit logs to keep that were set aside; 0 for any number'),
  auditLogMaxage: count('audit-log-maxage', '0', 'days to keep audit logs that were set aside; 0 for ever'),
  auditLogCompress: flag({
    name: 'audit-log-compress',
    value: 'BOOL',
    default: 'false',
    read: readBoolean,
    help: 'compress audit logs that were set aside',
  }),
  auditLogBatchBufferSize: count('audit-log-batch-buffer-size', '10000', 'events that may wait in mode batch'),
  auditLogBatchMaxSize: count('audit-log-batch-max-size', '1', 'events written at once in mode batch'),
  auditLogBatchMaxWait: flag({
    name: 'audit-log-batch-max-wait',
    value: 'TIME',
    default: '1s',
    read: readTime,
    help: 'time that an event waits at most in mode batch',
  }),
  ...truncation('log'),
  auditWebhookConfigFile: flag({
    name: 'audit-webhook-config-file',
    value: 'FILE',
    read: text,
    help: 'kubeconfig of the service that audit events are sent to',
  }),
  auditWebhookMode: flag({
    name: 'audit-webhook-mode',
    value: 'MODE',
    default: 'batch',
    read: oneOf(sinkModes),
    help: `mode of the audit webhook: ${modes}`,
  }),
  auditWebhookInitialBackoff: flag({
    name: 'audit-webhook-initial-backoff',
    value: 'TIME',
    default: '10s',
    read: readTime,
    help: 'time to wait before a failed call of the audit webhook is repeated; each further time is 1.5 times as long',
  }),
  auditWebhookBatchBufferSize: count('audit-webhook-batch-buffer-size', '10000', 'events that may wait in mode batch'),
  auditWebhookBatchMaxSize: count('audit-webhook-batch-max-size', '400', 'events sent at once in mode batch'),
  auditWebhookBatchMaxWait: flag({
    name: 'audit-webhook-batch-max-wait',
    value: 'TIME',
    default: '30s',
    read: readTime,
    help: 'time that an event waits at most in mode batch',
  }),
  auditWebhookBatchThrottleEnable: flag({
    name: 'audit-webhook-batch-throttle-enable',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'limit how many batches are sent per second',
  }),
  auditWebhookBatchThrottleQps: flag({
    name: 'audit-webhook-batch-throttle-qps',
    value: 'N',
    default: '10',
    read: readRate,
    help: 'batches sent per second on average',
  }),
  auditWebhookBatchThrottleBurst: count('audit-webhook-batch-throttle-burst', '15', 'batches sent at once at most'),
  ...truncation('webhook'),
}

/** The limits that both sinks have; long events lose their bodies, and say so. */
function truncation<S extends 'log' | 'webhook'>(sink: S) {
  const name = sink === 'log' ? 'Log' : 'Webhook'
  const flags = {
    [`audit${name}TruncateEnabled`]: flag({
      name: `audit-${sink}-truncate-enabled`,
      value: 'BOOL',
      default: 'false',
      read: readBoolean,
      help: 'leave the bodies out of audit events that are too long',
    }),
    [`audit${name}TruncateMaxEventSize`]: count(
      `audit-${sink}-truncate-max-event-size`,
      '102400',
      'length of an audit event at most, if events are truncated',
    ),
    [`audit${name}TruncateMaxBatchSize`]: count(
      `audit-${sink}-truncate-max-batch-size`,
      '10485760',
      'length of a batch of audit events at most, if events are truncated',
    ),
  }
  return flags as TruncationFlags<Capitalize<S>>
}

type TruncationFlags<S extends string> = { [K in `audit${S}TruncateEnabled`]: ReturnType<typeof flag<boolean>> } & {
  [K in `audit${S}TruncateMaxEventSize` | `audit${S}TruncateMaxBatchSize`]: ReturnType<typeof flag<number>>
}
