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

const count = (name: string, fallback: string, help: string) => flag(name, 'N', fallback, readCount, help)
const modes = `${sinkModes.join(', ')}; strictly blocking refuses a request that cannot be recorded as it arrives`

export const auditFlags = {
  auditPolicyFile: flag(
    'audit-policy-file',
    'FILE',
    '',
    text,
    'audit policy: which requests are recorded, and how much of them; without one, writes are kept in memory only',
  ),
  auditLogPath: flag(
    'audit-log-path',
    'FILE',
    '',
    text,
    'file to append audit events to, one JSON object per line; - is the standard output',
  ),
  auditLogFormat: flag('audit-log-format', 'FORMAT', 'json', oneOf(['json']), 'format of the audit log: json'),
  auditLogMode: flag('audit-log-mode', 'MODE', 'blocking', oneOf(sinkModes), `mode of the audit log: ${modes}`),
  auditLogMaxsize: count('audit-log-maxsize', '100', 'megabytes after which the audit log is set aside'),
  auditLogMaxbackup: count('audit-log-maxbackup', '0', 'audit logs to keep that were set aside; 0 for any number'),
  auditLogMaxage: count('audit-log-maxage', '0', 'days to keep audit logs that were set aside; 0 for ever'),
  auditLogCompress: flag('audit-log-compress', 'BOOL', 'false', readBoolean, 'compress audit logs that were set aside'),
  auditLogBatchBufferSize: count('audit-log-batch-buffer-size', '10000', 'events that may wait in mode batch'),
  auditLogBatchMaxSize: count('audit-log-batch-max-size', '1', 'events written at once in mode batch'),
  auditLogBatchMaxWait: flag(
    'audit-log-batch-max-wait',
    'TIME',
    '1s',
    readTime,
    'time that an event waits at most in mode batch',
  ),
  ...truncation('log'),
  auditWebhookConfigFile: flag(
    'audit-webhook-config-file',
    'FILE',
    '',
    text,
    'kubeconfig of the service that audit events are sent to',
  ),
  auditWebhookMode: flag(
    'audit-webhook-mode',
    'MODE',
    'batch',
    oneOf(sinkModes),
    `mode of the audit webhook: ${modes}`,
  ),
  auditWebhookInitialBackoff: flag(
    'audit-webhook-initial-backoff',
    'TIME',
    '10s',
    readTime,
    'time to wait before a failed call of the audit webhook is repeated; each further time is 1.5 times as long',
  ),
  auditWebhookBatchBufferSize: count('audit-webhook-batch-buffer-size', '10000', 'events that may wait in mode batch'),
  auditWebhookBatchMaxSize: count('audit-webhook-batch-max-size', '400', 'events sent at once in mode batch'),
  auditWebhookBatchMaxWait: flag(
    'audit-webhook-batch-max-wait',
    'TIME',
    '30s',
    readTime,
    'time that an event waits at most in mode batch',
  ),
  auditWebhookBatchThrottleEnable: flag(
    'audit-webhook-batch-throttle-enable',
    'BOOL',
    'true',
    readBoolean,
    'limit how many batches are sent per second',
  ),
  auditWebhookBatchThrottleQps: flag(
    'audit-webhook-batch-throttle-qps',
    'N',
    '10',
    readRate,
    'batches sent per second on average',
  ),
  auditWebhookBatchThrottleBurst: count('audit-webhook-batch-throttle-burst', '15', 'batches sent at once at most'),
  ...truncation('webhook'),
}

/** The limits that both sinks have; long events lose their bodies, and say so. */
function truncation<S extends 'log' | 'webhook'>(sink: S) {
  const name = sink === 'log' ? 'Log' : 'Webhook'
  const flags = {
    [`audit${name}TruncateEnabled`]: flag(
      `audit-${sink}-truncate-enabled`,
      'BOOL',
      'false',
      readBoolean,
      'leave the bodies out of audit events that are too long',
    ),
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
