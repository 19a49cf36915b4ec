/** Flags for auditing, named as in kube-apiserver 1.23. */
import { type EmulatedVersion, isAtLeast } from '../../api/versions/emulated-version.ts'
import { sinkModes } from '../../apiserver/audit/sink.ts'
import { flag, ifGiven, oneOf, readBoolean, text, UsageError } from '../../base/flags/flags.ts'
import { readTime } from './values.ts'

const readCount = (value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a whole number`)
  return Number(value)
}

const readRate = (value: string): number => {
  const rate = Number(value)
  if (value.trim() === '' || !(rate > 0) || rate > 1e6)
    throw new UsageError(`${JSON.stringify(value)} is not a positive number`)
  return rate
}

const count = (name: string, fallback: string, help: string) =>
  flag({ name, value: 'N', default: fallback, read: readCount, help })
const modes = `${sinkModes.join(', ')}; blocking-strict rejects a request if its arrival cannot be recorded`

export const auditFlags = {
  auditPolicyFile: flag({
    name: 'audit-policy-file',
    value: 'FILE',
    read: text,
    help: 'audit policy file, which selects the requests to record and the level of detail; without a policy file, the server records only recent writes, in memory',
  }),
  auditLogPath: flag({
    name: 'audit-log-path',
    value: 'FILE',
    read: text,
    help: 'file to append audit events to, one JSON object per line; - for standard output',
  }),
  auditLogFormat: flag({
    name: 'audit-log-format',
    value: 'FORMAT',
    default: 'json',
    read: oneOf(['json']),
    help: 'audit log format: json',
  }),
  auditLogMode: flag({
    name: 'audit-log-mode',
    value: 'MODE',
    default: 'blocking',
    read: oneOf(sinkModes),
    help: `audit log mode: ${modes}`,
  }),
  auditLogMaxsize: count('audit-log-maxsize', '100', 'size in megabytes at which the audit log is rotated'),
  auditLogMaxbackup: ifGiven(
    count(
      'audit-log-maxbackup',
      '',
      'maximum number of rotated audit logs to keep; 0 means no limit; defaults to 100 since Kubernetes 1.36, and to 0 before',
    ),
  ),
  auditLogMaxage: ifGiven(
    count(
      'audit-log-maxage',
      '',
      'maximum age in days of rotated audit logs; 0 means no limit; defaults to 366 since Kubernetes 1.36, and to 0 before',
    ),
  ),
  auditLogCompress: flag({
    name: 'audit-log-compress',
    value: 'BOOL',
    default: 'false',
    read: readBoolean,
    help: 'compress rotated audit logs',
  }),
  auditLogBatchBufferSize: count('audit-log-batch-buffer-size', '10000', 'number of events to buffer in batch mode'),
  auditLogBatchMaxSize: count('audit-log-batch-max-size', '1', 'maximum number of events per write in batch mode'),
  auditLogBatchMaxWait: flag({
    name: 'audit-log-batch-max-wait',
    value: 'TIME',
    default: '1s',
    read: readTime,
    help: 'in batch mode: maximum time to collect audit events before the server writes a batch',
  }),
  ...truncation('log'),
  auditWebhookConfigFile: flag({
    name: 'audit-webhook-config-file',
    value: 'FILE',
    read: text,
    help: 'kubeconfig for the webhook that receives audit events',
  }),
  auditWebhookMode: flag({
    name: 'audit-webhook-mode',
    value: 'MODE',
    default: 'batch',
    read: oneOf(sinkModes),
    help: `audit webhook mode: ${modes}`,
  }),
  auditWebhookInitialBackoff: flag({
    name: 'audit-webhook-initial-backoff',
    value: 'TIME',
    default: '10s',
    read: readTime,
    help: 'delay before the first retry of a failed audit webhook call; each subsequent delay is 1.5 times as long',
  }),
  auditWebhookBatchBufferSize: count(
    'audit-webhook-batch-buffer-size',
    '10000',
    'number of events to buffer in batch mode',
  ),
  auditWebhookBatchMaxSize: count(
    'audit-webhook-batch-max-size',
    '400',
    'maximum number of events per webhook call in batch mode',
  ),
  auditWebhookBatchMaxWait: flag({
    name: 'audit-webhook-batch-max-wait',
    value: 'TIME',
    default: '30s',
    read: readTime,
    help: 'in batch mode: maximum time to collect audit events before the server sends a batch',
  }),
  auditWebhookBatchThrottleEnable: flag({
    name: 'audit-webhook-batch-throttle-enable',
    value: 'BOOL',
    default: 'true',
    read: readBoolean,
    help: 'limit the rate of audit webhook calls',
  }),
  auditWebhookBatchThrottleQps: flag({
    name: 'audit-webhook-batch-throttle-qps',
    value: 'N',
    default: '10',
    read: readRate,
    help: 'maximum average number of audit webhook calls per second',
  }),
  auditWebhookBatchThrottleBurst: count(
    'audit-webhook-batch-throttle-burst',
    '15',
    'maximum number of batches in a burst',
  ),
  ...truncation('webhook'),
}

/** Limits on rotated audit log files: their maximum age in days, and their maximum number. 0 means no limit. */
export interface AuditLogLimits {
  readonly auditLogMaxage: number
  readonly auditLogMaxbackup: number
}

type GivenLimits = { readonly [limit in keyof AuditLogLimits]?: number | undefined } & {
  readonly emulatedVersion: EmulatedVersion
}

/** Returns the limits that flags set. All other limits have defaults that depend on the Kubernetes version. */
export function auditLogLimits({ emulatedVersion, auditLogMaxage, auditLogMaxbackup }: GivenLimits): AuditLogLimits {
  const isLimited = isAtLeast(emulatedVersion, '1.36')
  return {
    auditLogMaxage: auditLogMaxage ?? (isLimited ? 366 : 0),
    auditLogMaxbackup: auditLogMaxbackup ?? (isLimited ? 100 : 0),
  }
}

/**
 * Returns the truncation flags of an audit sink. Both sinks have the same flags. Truncation removes the bodies from
 * long events and annotates these events.
 */
function truncation<S extends 'log' | 'webhook'>(sink: S) {
  const name = sink === 'log' ? 'Log' : 'Webhook'
  const flags = {
    [`audit${name}TruncateEnabled`]: flag({
      name: `audit-${sink}-truncate-enabled`,
      value: 'BOOL',
      default: 'false',
      read: readBoolean,
      help: 'drop the request and response bodies from audit events that are too large',
    }),
    [`audit${name}TruncateMaxEventSize`]: count(
      `audit-${sink}-truncate-max-event-size`,
      '102400',
      'maximum length in characters of an audit event if truncation is enabled',
    ),
    [`audit${name}TruncateMaxBatchSize`]: count(
      `audit-${sink}-truncate-max-batch-size`,
      '10485760',
      'maximum length in characters of a batch of audit events if truncation is enabled',
    ),
  }
  return flags as TruncationFlags<Capitalize<S>>
}

type TruncationFlags<S extends string> = { [K in `audit${S}TruncateEnabled`]: ReturnType<typeof flag<boolean>> } & {
  [K in `audit${S}TruncateMaxEventSize` | `audit${S}TruncateMaxBatchSize`]: ReturnType<typeof flag<number>>
}
