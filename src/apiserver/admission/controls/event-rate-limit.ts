/**
 * EventRateLimit: limits the rate of events. Events are counted per server, per namespace, per user, or per combination
 * of source and object. Requests above the limit fail with status 429. All workers of a server share the counters.
 * Servers that share an etcd cluster each have their own counters.
 */

import type { Json } from '../../../api/json/json.ts'
import type { Event } from '../../../api/kinds/core/event.ts'
import { event as events } from '../../../api/kinds/core/event.ts'
import { tooManyRequests } from '../../../api/model/api-error.ts'
import { child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import type { StoredType } from '../../../api/model/lookup.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, type InferFields, s } from '../../../api/schema/schema.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { newBucketMemory, openRateBuckets } from '../../../base/limits/rate-buckets.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

interface Parts {
  readonly vendor: Vendor
  readonly clock: Clock
  /** Memory that all workers of this server share for their counters. Undefined if the server has one worker. */
  readonly sharedRates?: SharedArrayBuffer | undefined
}

const limitFields = {
  type: field(1, s.oneOf('Server', 'Namespace', 'User', 'SourceAndObject'), {
    required: true,
    doc: 'Scope of the limit: the whole server, or each namespace, user, or pair of source and object.',
  }),
  qps: field(2, s.int32(), { zeroValue: 'keep', doc: 'Maximum sustained number of events per second.' }),
  burst: field(3, s.int32(), { zeroValue: 'keep', doc: 'Maximum number of events in a burst.' }),
  cacheSize: field(4, s.int32(), { zeroValue: 'keep', doc: 'Number of counters to keep. Defaults to 4096.' }),
}

type Limit = InferFields<typeof limitFields>

const fields = {
  limits: field(1, s.list(s.object(limitFields, { check: checkLimit })), {
    doc: 'Rate limits. An event must not exceed any of them.',
  }),
}

function checkLimit({ qps = 0, burst = 0, cacheSize = 0 }: Limit, path: FieldPath): FieldError[] {
  return [
    ...(qps > 0 ? [] : [invalid(child(path, 'qps'), qps, 'must be positive')]),
    ...(burst > 0 ? [] : [invalid(child(path, 'burst'), burst, 'must be positive')]),
    ...(cacheSize >= 0 ? [] : [invalid(child(path, 'cacheSize'), cacheSize, 'must not be negative')]),
  ]
}

export function eventRateLimit(): Control<Event> {
  throw new UsageError(
    'EventRateLimit requires limits: set them in the file specified by --admission-control-config-file',
  )
}

export function configuredEventRateLimit(parts: Parts, configuration: Json): Control<Event> {
  const { vendor } = parts
  const { limits = [] } = readConfiguration(configuration, {
    vendor,
    fields,
    group: 'eventratelimit.admission',
    versions: ['v1alpha1'],
    kind: 'Configuration',
  })
  if (limits.length === 0) throw new Error('limits: at least one limit is required')
  const meters = metersOf(limits, parts)
  return {
    name: 'EventRateLimit',
    handles: { operations: ['CREATE', 'UPDATE'], types: eventTypes, subresources: [''] },
    validate: (request) => {
      if (request.dryRun) return
      for (const { limit, meter } of meters) if (!meter.take(keyOf(limit, request))) throw tooFast(limit)
    },
  }
}

const eventTypes: readonly StoredType<Event>[] = [events, { group: 'events', plural: 'events' }]

function tooFast({ type }: Limit) {
  return tooManyRequests(`EventRateLimit: the ${type} limit has been exceeded; try again later`)
}

function keyOf({ type }: Limit, { namespace, user, object }: AdmissionRequest<Event>): string {
  if (type === 'Namespace') return namespace
  if (type === 'User') return user.name
  return type === 'SourceAndObject' ? sourceAndObject(object) : ''
}

function sourceAndObject({ source = {}, involvedObject = {} }: Event): string {
  const { kind, namespace, name, uid, apiVersion } = involvedObject
  return JSON.stringify([source.component, source.host, kind, namespace, name, uid, apiVersion])
}

const defaultSize = 4096

function metersOf(limits: readonly Limit[], { clock, sharedRates }: Parts) {
  const rates = limits.map(({ qps = 1, burst = 1, cacheSize = 0 }) => ({
    perSecond: qps,
    burst,
    keys: cacheSize === 0 ? defaultSize : cacheSize,
  }))
  // Shared counters need a clock that all threads share. Each thread's monotonic clock starts with the thread, so it
  // cannot be used here.
  const now = sharedRates === undefined ? () => BigInt(Math.round(1e6 * clock.monotonic())) : process.hrtime.bigint
  const meters = openRateBuckets(sharedRates ?? newBucketMemory(), rates, now)
  return limits.map((limit, i) => ({ limit, meter: meters[i]! }))
}
