/**
 * Keeps the status of quotas: what is wanted becomes what is enforced, and what is in use is counted.
 *
 * The server charges and gives back by itself as objects come and go (`apiserver/admission/controls/resource-quota.ts`). So what
 * it knows is counted anew only when the quota was left alone for `quietMs`, which is longer than any write takes:
 * until then a charge may belong to an object that is not there yet, and a count would lose it. Less than is charged
 * becomes what is in use only when the quota was left alone for as long again: until then an object that the count no
 * longer found may still be given back, and would be twice. What nobody has counted yet is counted at once. What a server
 * left charged that was killed between the charge and the write is not waited for: the API servers settle it
 * (`apiserver/upkeep/quota-debts.ts`).
 *
 * A quota that is never left alone for that long is counted while no write is under way, where one server is all there
 * is and can say so (`whileStill`): such a count is exact. Among several servers nobody knows of all writes. The first
 * count is followed by such a one soon: objects that came or went while it was made were neither in it nor charged. So is
 * the start of this loop: the one before may have ended in between.
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
import { countUsage } from './quota-usage.ts'
import { unlessGone } from './unless-gone.ts'

export interface ResourceQuotaLoopParts {
  readonly client: Client
  readonly informer: Informer<ResourceQuota & ApiObject>
  readonly vendor: Vendor
  readonly clock: Clock
  /** How long a quota is left alone before it is counted anew, and then again and again. */
  readonly quietMs: number
  /** Does this while no write is under way that quotas account for; undefined where that could not be. */
  readonly whileStill?: <T>(namespace: string, run: (isStill: () => boolean) => Promise<T>) => Promise<T | undefined>
}

/** A version of a quota, since when it is known or was counted, and what the count found. */
interface Seen {
  readonly version: string
  readonly since: number
  /** When it is counted at the latest, whatever version it then is. */
  readonly countBy: number
  readonly counted?: Amounts
}

export function resourceQuotaLoop(parts: ResourceQuotaLoopParts): Loop {
  const seen = new Map<string, Seen>()
  return {
    name: 'resourcequota',
    sources: [fromInformer(parts.informer)],
    reconcile: async (key, signal) => {
      const quota = parts.informer.get(nameOfKey(key))
      if (quota !== undefined) return await reconcile(parts, quota, { key, seen, signal })
      seen.delete(key)
      return 'done'
    },
  }
}

interface Step {
  readonly key: string
  readonly seen: Map<string, Seen>
  readonly signal: AbortSignal
}

/** How long after the first count, or the start, the next is made at the latest. */
const soonMs = 5000

type Amounts = NonNullable<NonNullable<ResourceQuota['status']>['used']>

async function reconcile(
  parts: ResourceQuotaLoopParts,
  quota: ResourceQuota & ApiObject,
  step: Step,
): Promise<StepOutcome> {
  const { hard = {} } = quota.spec ?? {}
  const { hard: enforced = {}, used = {} } = quota.status ?? {}
  const known = Object.entries(used).filter(([name]) => Object.hasOwn(hard, name))
  const unknown = Object.keys(hard).filter((name) => !Object.hasOwn(used, name))
  if (unknown.length > 0 || !sameJson(hard, enforced)) {
    const counted = await count(parts, quota, { names: unknown, signal: step.signal })
    if (unknown.length > 0) step.seen.set(step.key, { ...lookAt(parts, quota, step), countBy: soon(parts) })
    return await write(parts, quota, { hard, used: { ...Object.fromEntries(known), ...counted } })
  }
  const seen = lookAt(parts, quota, step)
  const restMs = seen.since + parts.quietMs - parts.clock.monotonic()
  const overdueMs = untilOverdue(parts, seen)
  if (restMs > 0 && overdueMs <= 0) return await countStill(parts, quota, step)
  if (restMs > 0) return { afterMs: Math.min(restMs, overdueMs) }
  if (seen.counted !== undefined) return await write(parts, quota, { hard, used: seen.counted })
  const counted = await count(parts, quota, { names: Object.keys(hard), signal: step.signal })
  const raised = greaterOf(counted, used)
  if (!sameAmounts(raised, used)) return await write(parts, quota, { hard, used: raised })
  const now = parts.clock.monotonic()
  const countBy = now + 2 * parts.quietMs
  if (sameAmounts(counted, used)) step.seen.set(step.key, { ...seen, countBy })
  else step.seen.set(step.key, { ...seen, since: now, countBy, counted })
  return { afterMs: parts.quietMs }
}

function soon({ clock, quietMs }: ResourceQuotaLoopParts): number {
  return clock.monotonic() + Math.min(soonMs, quietMs)
}

/** How long until it is counted although it was not left alone for long enough. */
function untilOverdue({ whileStill, clock }: ResourceQuotaLoopParts, { countBy }: Seen): number {
  return whileStill === undefined ? Number.POSITIVE_INFINITY : countBy - clock.monotonic()
}

/**
 * Counts and writes while nothing is under way: any write that waits would make another version of the quota. Where that
 * cannot be now, it is tried again after the same pause.
 */
async function countStill(
  parts: ResourceQuotaLoopParts,
  { metadata: { namespace = '', name = '' } }: ResourceQuota & ApiObject,
  { key, seen, signal }: Step,
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
  seen.set(key, { ...seen.get(key)!, countBy: parts.clock.monotonic() + pauseMs })
  return outcome ?? { afterMs: parts.quietMs }
}

/** As the store has it. The role of this loop lets it list and not get. */
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

/** What is known of the quota as it is; nothing yet, where it has changed since the last look. */
function lookAt(parts: ResourceQuotaLoopParts, { metadata }: ApiObject, { key, seen }: Step): Seen {
  const { resourceVersion: version = '' } = metadata
  const last = seen.get(key)
  if (last?.version === version) return last
  const now = { version, since: parts.clock.monotonic(), countBy: last?.countBy ?? soon(parts) }
  seen.set(key, now)
  return now
}

async function count(
  { client, vendor, clock }: ResourceQuotaLoopParts,
  { metadata: { namespace = '' }, spec = {} }: ResourceQuota & ApiObject,
  { names, signal }: { names: readonly string[]; signal: AbortSignal },
): Promise<Amounts> {
  return await countUsage({ client, vendor, now: clock.now(), namespace, spec, signal }, names)
}

/** Only if the quota is still as it was when what is used was counted; else its change brings it back here. */
async function write(
  { client }: ResourceQuotaLoopParts,
  quota: ResourceQuota & ApiObject,
  status: { readonly hard: Amounts; readonly used: Amounts },
): Promise<StepOutcome> {
  try {
    await unlessGone(client.update(kinds.ResourceQuota, { ...quota, status }, { subresource: 'status' }))
    return 'done'
  } catch (error) {
    if (isConflict(error)) return 'later'
    throw error
  }
}

/** Of each amount that was counted the greater one. */
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
