/**
 * Keeps the status of quotas: what is wanted becomes what is enforced, and what is in use is counted.
 *
 * The server charges and gives back by itself as objects come and go (`admission/controls/resource-quota.ts`). So what
 * it knows is counted anew only when the quota was left alone for `quietMs`, which is longer than any write takes:
 * until then a charge may belong to an object that is not there yet, and a count would lose it. Less than is charged
 * becomes what is in use only when the quota was left alone for as long again: until then an object that the count no
 * longer found may still be given back, and would be twice. That repairs what a server left behind that was killed
 * between the charge and the write. What nobody has counted yet is counted at once.
 */
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer.ts'
import { nameOfKey, type ResourceType } from '../client/resource-type.ts'
import { isConflict } from '../client/status-error.ts'
import type { ResourceQuota } from '../kinds/core/resource-quota.ts'
import { sameJson } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { compareQuantities } from '../model/quantity.ts'
import { readAmount } from '../model/quota/amounts.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Loop } from '../reconcile/loop.ts'
import { fromInformer } from '../reconcile/sources.ts'
import type { StepOutcome } from '../reconcile/work-queue.ts'
import { countUsage } from './quota-usage.ts'
import { unlessGone } from './unless-gone.ts'

export const resourceQuotas: ResourceType<ResourceQuota & ApiObject> = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  namespaced: true,
}

export interface ResourceQuotaLoopParts {
  readonly client: Client
  readonly informer: Informer<ResourceQuota & ApiObject>
  readonly vendor: Vendor
  readonly clock: Clock
  /** How long a quota is left alone before it is counted anew, and then again and again. */
  readonly quietMs: number
}

/** A version of a quota, since when it is known or was counted, and what the count found. */
interface Seen {
  readonly version: string
  readonly since: number
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
    return await write(parts, quota, { hard, used: { ...Object.fromEntries(known), ...counted } })
  }
  const seen = lookAt(parts, quota, step)
  const restMs = seen.since + parts.quietMs - parts.clock.monotonic()
  if (restMs > 0) return { afterMs: restMs }
  if (seen.counted !== undefined) return await write(parts, quota, { hard, used: seen.counted })
  const counted = await count(parts, quota, { names: Object.keys(hard), signal: step.signal })
  const raised = greaterOf(counted, used)
  if (!sameAmounts(raised, used)) return await write(parts, quota, { hard, used: raised })
  if (!sameAmounts(counted, used)) step.seen.set(step.key, { ...seen, since: parts.clock.monotonic(), counted })
  return { afterMs: parts.quietMs }
}

/** What is known of the quota as it is; nothing yet, where it has changed since the last look. */
function lookAt({ clock }: ResourceQuotaLoopParts, { metadata }: ApiObject, { key, seen }: Step): Seen {
  const { resourceVersion: version = '' } = metadata
  const last = seen.get(key)
  if (last?.version === version) return last
  const now = { version, since: clock.monotonic() }
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
    await unlessGone(client.update(resourceQuotas, { ...quota, status }, { subresource: 'status' }))
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
