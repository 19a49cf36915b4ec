/** Audit logging: the policy and the sinks, as configured by flags. */
import { stdout } from 'node:process'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import type { AuditMetrics } from '../../apiserver/audit/audit-metrics.ts'
import { Batches, type BatchOptions } from '../../apiserver/audit/batches.ts'
import { type LineOutput, LogSink } from '../../apiserver/audit/log-sink.ts'
import { type Policy, writesOnly } from '../../apiserver/audit/policy.ts'
import { RecentEvents } from '../../apiserver/audit/recent-events.ts'
import type { Sink, SinkFaults, Truncation } from '../../apiserver/audit/sink.ts'
import { textWithin } from '../../apiserver/audit/sink.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import { auditLogLimits } from '../flags/audit.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { Reloading } from '../flags/reloading.ts'
import { countWorkers, hasDuties, type WorkerContext } from '../threads/worker-context.ts'

export interface AuditDependencies {
  readonly vendor: Vendor
  readonly clock: Clock
  readonly log: Log
  readonly metrics: AuditMetrics
  readonly reloading: Reloading
  readonly worker?: WorkerContext | undefined
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

export interface Audit {
  readonly policy: Policy
  readonly sinks: readonly Sink[]
  readonly recent: RecentEvents
}

const policyFlag = 'audit-policy-file'

/** Opens auditing. Throws UsageError if a file is invalid or flags conflict. */
export async function openAudit(options: EmulatedOptions, dependencies: AuditDependencies): Promise<Audit> {
  const { vendor, opened } = dependencies
  const hasPolicyFile = options.auditPolicyFile !== ''
  if (!hasPolicyFile && (options.auditLogPath !== '' || options.auditWebhookConfigFile !== ''))
    throw new UsageError(
      `--${policyFlag} is required for audit logs: specify a policy that selects the events to record`,
    )
  const policy = hasPolicyFile
    ? await readPolicyFile(options.auditPolicyFile, vendor)
    : writesOnly((id) => groupName(vendor, id))
  const recent = new RecentEvents()
  const sinks: Sink[] = [recent]
  for (const open of [openLog, openWebhook]) {
    const sink = await open(options, dependencies)
    if (sink === undefined) continue
    opened.defer(() => sink.close())
    sinks.push(sink)
  }
  return { policy, sinks, recent }
}

async function readPolicyFile(file: string, vendor: Vendor): Promise<Policy> {
  const text = readFlagFile(policyFlag, file)
  const [{ parseYaml }, { readPolicy }] = await Promise.all([
    import('../../api/codec/yaml.ts'),
    import('../../apiserver/audit/read-policy.ts'),
  ])
  try {
    return readPolicy(parseYaml(Buffer.from(text), text.length * 4).value, vendor)
  } catch (error) {
    throw new UsageError(`--${policyFlag}: ${file}: ${messageOf(error)}`, { cause: error })
  }
}

const megabyte = 1024 * 1024
const day = 24 * 60 * 60 * 1000

async function openLog(
  options: EmulatedOptions,
  { clock, log, metrics, worker }: AuditDependencies,
): Promise<Sink | undefined> {
  const { auditLogPath: path, auditLogMode: mode } = options
  if (path === '') return undefined
  const faults = faultsOf('log', { log, metrics })
  const truncation: Truncation = {
    isEnabled: options.auditLogTruncateEnabled,
    maxEvent: options.auditLogTruncateMaxEventSize,
    maxBatch: options.auditLogTruncateMaxBatchSize,
  }
  const output = path === '-' ? standardOutput : await openFile(options, { clock, faults, worker })
  if (mode !== 'batch') return new LogSink({ output, truncation, isStrict: mode === 'blocking-strict', faults })
  const batch = {
    buffer: options.auditLogBatchBufferSize,
    maxSize: Math.max(1, options.auditLogBatchMaxSize),
    maxWaitMs: options.auditLogBatchMaxWait,
    rate: undefined,
    maxLength: lengthOf(truncation),
  }
  return batchedLog({ output, batch, truncation, faults, clock })
}

interface BatchedLogParts {
  readonly output: LineOutput
  readonly batch: BatchOptions
  readonly truncation: Truncation
  readonly faults: SinkFaults
  readonly clock: Clock
}

/** Returns a sink that never makes requests wait. Events that do not fit into its buffer are dropped and counted. */
function batchedLog({ output, batch, truncation, faults, clock }: BatchedLogParts): Sink {
  const send = (lines: readonly string[]) => output.append(Buffer.from(`${lines.join('\n')}\n`))
  const batches = new Batches(batch, { send, faults, clock })
  return {
    write: (event) => {
      const text = textWithin(truncation, event)
      if (text === undefined) faults.lost(1, new Error('an event exceeds the size limit even without its bodies'))
      else batches.add(text)
    },
    close: async () => {
      await batches.close()
      await output.close()
    },
  }
}

const standardOutput: LineOutput = {
  append: (lines) =>
    new Promise((resolve, reject) => {
      stdout.write(lines, (error) => (error ? reject(error) : resolve()))
    }),
  close: async () => {},
}

interface AuditFileDependencies extends Pick<AuditDependencies, 'clock' | 'worker'> {
  readonly faults: SinkFaults
}

async function openFile(options: EmulatedOptions, { clock, faults, worker }: AuditFileDependencies) {
  const { RotatingFile } = await import('../../apiserver/audit/rotating-file.ts')
  const limits = auditLogLimits(options)
  const rotation = {
    maxBytes: (options.auditLogMaxsize || 100) * megabyte,
    maxBackups: limits.auditLogMaxbackup,
    maxAgeMs: limits.auditLogMaxage * day,
    compress: options.auditLogCompress,
    shared: worker === undefined ? undefined : { rotates: hasDuties(worker) },
  }
  const file = new RotatingFile(options.auditLogPath, rotation, { clock, onError: (error) => faults.lost(0, error) })
  await file.open().catch((error) => {
    throw new UsageError(`--audit-log-path: cannot write ${options.auditLogPath}: ${messageOf(error)}`)
  })
  return file
}

async function openWebhook(options: EmulatedOptions, dependencies: AuditDependencies): Promise<Sink | undefined> {
  const { auditWebhookConfigFile: file } = options
  const { vendor, clock, reloading, opened } = dependencies
  if (file === '') return undefined
  const [{ webhookService }, { WebhookSink }] = await Promise.all([
    import('../identity/webhook-service.ts'),
    import('../../apiserver/audit/webhook-sink.ts'),
  ])
  const service = webhookService('audit-webhook-config-file', file, reloading)
  opened.defer(() => service.close())
  const truncation: Truncation = {
    isEnabled: options.auditWebhookTruncateEnabled,
    maxEvent: options.auditWebhookTruncateMaxEventSize,
    maxBatch: options.auditWebhookTruncateMaxBatchSize,
  }
  // Each worker sends its own batches at an equal share of the rate.
  const workers = countWorkers(dependencies.worker)
  const rate = {
    get perSecond() {
      return options.auditWebhookBatchThrottleQps / workers()
    },
    get burst() {
      return Math.max(1, Math.ceil(options.auditWebhookBatchThrottleBurst / workers()))
    },
  }
  const batch = {
    buffer: options.auditWebhookBatchBufferSize,
    maxSize: Math.max(1, options.auditWebhookBatchMaxSize),
    maxWaitMs: options.auditWebhookBatchMaxWait,
    rate: options.auditWebhookBatchThrottleEnable ? rate : undefined,
    maxLength: lengthOf(truncation),
  }
  return new WebhookSink({
    vendor,
    clock,
    batch,
    truncation,
    mode: options.auditWebhookMode,
    send: (text) => service.tell(text),
    firstPauseMs: options.auditWebhookInitialBackoff,
    faults: faultsOf('webhook', dependencies),
  })
}

function lengthOf({ isEnabled, maxBatch }: Truncation): number {
  return isEnabled ? maxBatch : Number.POSITIVE_INFINITY
}

/** Minimum time in milliseconds between two log lines about a failing sink. */
const quietMs = 60_000

/** Returns a callback that counts lost events and occasionally logs the losses. */
function faultsOf(sink: string, { log, metrics }: Pick<AuditDependencies, 'log' | 'metrics'>): SinkFaults {
  let lastLoggedAt = Number.NEGATIVE_INFINITY
  return {
    lost: (events, error) => {
      metrics.lost(sink, events)
      const now = performance.now()
      if (now - lastLoggedAt < quietMs) return
      lastLoggedAt = now
      log.error('lost audit events', { sink, error: messageOf(error) })
    },
  }
}
