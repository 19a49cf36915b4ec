/**
 * Maintains the status of ResourceQuotas: copies the limits from the spec and counts the usage.
 *
 * The server charges and refunds usage as objects are created and deleted
 * (`apiserver/admission/controls/resource-quota.ts`). The loop therefore recounts a quota only after the quota has not
 * changed for `quietMs`, which is longer than any write takes. Until then, a charge may belong to an object that is not
 * stored yet, and a recount would lose the charge. A count below the charged usage takes effect only after another
 * `quietMs` without changes. Otherwise the refund for an object that the count no longer includes would be subtracted
 * twice. Resources that have no recorded usage are counted immediately. If a server is killed between a charge and its
 * write, another API server refunds the charge (`apiserver/upkeep/quota-refunds.ts`).
 *
 * A single server can pause writes (`whileStill`). It counts a quota that keeps changing while no write is in progress,
 * so the count is exact. With several servers, no process knows about all writes. The first count of a quota misses
 * objects that are created or deleted while it runs, so an exact count follows soon. An exact count also follows when
 * the loop starts, because the previous process may have stopped during a count.
 */

import { sameJson } from '../../api/json/json.ts'
import type { ResourceQuota } from '../../api/kinds/core/resource-quota.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { compareQuantities } from '../../api/model/quantity.ts'
import { readAmount } from '../../api/model/quota/amounts.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import { countUsage } from './quota-usage.ts'

export interface ResourceQuotaLoopParts {
  readonly client: Client
  readonly informer: Informer<ResourceQuota & ApiObject>
  readonly vendor: Vendor
  readonly clock: Clock
  /**
   * Time in milliseconds for which a quota must be unchanged before it is recounted. Also the interval between later
   * recounts.
   */
  readonly quietMs: number
  /** Runs a function while no quota-related write is in progress. Undefined if other processes also handle writes. */
  readonly whileStill?: <T>(namespace: string, run: (isStill: () => boolean) => Promise<T>) => Promise<T | undefined>
}

/** The resourceVersion of a quota, the time when that version was first seen or last counted, and the counted usage. */
interface Seen {
  readonly version: string
  readonly since: number
  /** Time, on the monotonic clock, by which the quota must be counted even if it keeps changing. */
  readonly countBy: number
  readonly counted?: Amounts
}

export function resourceQuotaLoop(parts: ResourceQuotaLoopParts): Loop {
  const records = new Map<string, Seen>()
  return {
    name: 'resourcequota',
    sources: [fromInformer(parts.informer)],
    reconcile: async (key, signal) => {
      const quota = parts.informer.get(nameOfKey(key))
      if (quota !== undefined) return await reconcile(parts, quota, { key, records, signal })
      records.delete(key)
      return 'done'
    },
  }
}

interface Step {
  readonly key: string
  readonly records: Map<string, Seen>
  readonly signal: AbortSignal
}

/**
 * Time in milliseconds within which a quota is recounted after the start or after its first count, even if it keeps
 * changing.
 */
const soonMs = 5000

type Amounts = NonNullable<NonNullable<ResourceQuota['status']>['used']>

async function reconcile(
  parts: ResourceQuotaLoopParts,
  quota: ResourceQuota & ApiObject,
  step: Step,
): Promise<StepOutcome> {
  const { hard = {} } = quota.spec ?? {}
  const { hard: enforced = {}, used = {} } = quota.status ?? {}
  const countedUsage = Object.entries(used).filter(([name]) => Object.hasOwn(hard, name))
  const unknown = Object.keys(hard).filter((name) => !Object.hasOwn(used, name))
  if (unknown.length > 0 || !sameJson(hard, enforced)) {
    const counted = await count(parts, quota, { names: unknown, signal: step.signal })
    if (unknown.length > 0) step.records.set(step.key, { ...lookAt(parts, quota, step), countBy: soon(parts) })
    return await write(parts, quota, { hard, used: { ...Object.fromEntries(countedUsage), ...counted } })
  }
  const record = lookAt(parts, quota, step)
  const restMs = record.since + parts.quietMs - parts.clock.monotonic()
  const overdueMs = untilOverdue(parts, record)
  if (restMs > 0 && overdueMs <= 0) return await countStill(parts, quota, step)
  if (restMs > 0) return { afterMs: Math.min(restMs, overdueMs) }
  if (record.counted !== undefined) return await write(parts, quota, { hard, used: record.counted })
  const counted = await count(parts, quota, { names: Object.keys(hard), signal: step.signal })
  const raised = greaterOf(counted, used)
  if (!sameAmounts(raised, used)) return await write(parts, quota, { hard, used: raised })
  const now = parts.clock.monotonic()
  const countBy = now + 2 * parts.quietMs
  if (sameAmounts(counted, used)) step.records.set(step.key, { ...record, countBy })
  else step.records.set(step.key, { ...record, since: now, countBy, counted })
  return { afterMs: parts.quietMs }
}

function soon({ clock, quietMs }: ResourceQuotaLoopParts): number {
  return clock.monotonic() + Math.min(soonMs, quietMs)
}

/** Returns the milliseconds until `countBy`. Returns Infinity if the quota cannot be counted under load. */
function untilOverdue({ whileStill, clock }: ResourceQuotaLoopParts, { countBy }: Seen): number {
  return whileStill === undefined ? Number.POSITIVE_INFINITY : countBy - clock.monotonic()
}

/**
 * Counts the usage and writes the status while no other write is in progress. A write during the count would change the
 * version of the quota. If the server cannot pause writes at the moment, the loop retries after `quietMs`.
 */
async function countStill(
  parts: ResourceQuotaLoopParts,
  { metadata: { namespace = '', name = '' } }: ResourceQuota & ApiObject,
  { key, records, signal }: Step,
): Promise<StepOutcome> {
  const outcome = await parts.whileStill!(namespace, async (isStill): Promise<StepOutcome> => {
    const quota = await recentQuota(parts, { namespace, name }, signal)
    if (quota === undefined) return 'done'
    const { hard = {} } = quota.spec ?? {}
    const used = await count(parts, quota, { names: Object.keys(hard), signal })
    const isRight = sameAmounts(used, quota.status?.used ?? {})
    return isRight || !isStill() ? { afterMs: parts.quietMs } : await write(parts, quota, { hard, used })
  })
  const pauseMs = outcome === undefined ? parts.quietMs : 2 * parts.quietMs
  records.set(key, { ...records.get(key)!, countBy: parts.clock.monotonic() + pauseMs })
  return outcome ?? { afterMs: parts.quietMs }
}

/** Reads the quota from the store. Uses a list request because this loop's role does not allow get. */
async function recentQuota(
  { client }: ResourceQuotaLoopParts,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<(ResourceQuota & ApiObject) | undefined> {
  const fieldSelector = `metadata.name=${name}`
  for await (const { items } of client.pages(kinds.ResourceQuota, { namespace, fieldSelector, signal }))
    if (items[0] !== undefined) return items[0]
  return undefined
}

/** Returns the record of a quota. Starts a new record if the quota has changed since the last pass. */
function lookAt(parts: ResourceQuotaLoopParts, { metadata }: ApiObject, { key, records }: Step): Seen {
  const { resourceVersion: version = '' } = metadata
  const last = records.get(key)
  if (last?.version === version) return last
  const now = { version, since: parts.clock.monotonic(), countBy: last?.countBy ?? soon(parts) }
  records.set(key, now)
  return now
}

async function count(
  { client, vendor, clock }: ResourceQuotaLoopParts,
  { metadata: { namespace = '' }, spec = {} }: ResourceQuota & ApiObject,
  { names, signal }: { names: readonly string[]; signal: AbortSignal },
): Promise<Amounts> {
  return await countUsage({ client, vendor, now: clock.now(), namespace, spec, signal }, names)
}

/** Writes the status only if the quota has not changed since the count. Otherwise the loop retries. */
async function write(
  { client }: ResourceQuotaLoopParts,
  quota: ResourceQuota & ApiObject,
  status: { readonly hard: Amounts; readonly used: Amounts },
): Promise<StepOutcome> {
  try {
    await ignoreNotFound(client.update(kinds.ResourceQuota, { ...quota, status }, { subresource: 'status' }))
    return 'done'
  } catch (error) {
    if (isConflict(error)) return 'later'
    throw error
  }
}

/** Returns, for each resource, the higher of the counted usage and the usage in the status. */
function greaterOf(counted: Amounts, used: Amounts): Amounts {
  const isMore = (name: string) => compareQuantities(readAmount(counted, name)!, readAmount(used, name)!) > 0
  return Object.fromEntries(Object.keys(counted).map((name) => [name, (isMore(name) ? counted : used)[name]!]))
}

function sameAmounts(a: Amounts, b: Amounts): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => readAmount(a, name)?.nanos === readAmount(b, name)?.nanos)
  )
}
