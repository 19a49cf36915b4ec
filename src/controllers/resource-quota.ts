/**
 * Keeps the status of quotas: what is wanted becomes what is enforced, and what is in use is counted.
 *
 * The server charges and gives back by itself as objects come and go (`admission/controls/resource-quota.ts`). So what
 * it knows is counted anew only when the quota was left alone for `quietMs`, which is longer than any write takes:
 * until then a charge may belong to an object that is not there yet, and a count would lose it. That repairs what
 * a server left behind that was killed between the charge and the write. What nobody has counted yet is counted at once.
 */
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer.ts'
import { nameOfKey, type ResourceType } from '../client/resource-type.ts'
import { isConflict } from '../client/status-error.ts'
import type { ResourceQuota } from '../kinds/core/resource-quota.ts'
import { sameJson } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { readAmount } from '../model/quota/amounts.ts'
import type { Vendor } from '../model/vendor.ts'
import { follow, type Loop } from './loop.ts'
import { countUsage } from './quota-usage.ts'
import { unlessGone } from './unless-gone.ts'
import type { StepOutcome } from './work-queue.ts'

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

/** A version of a quota, and since when it is known. */
interface Seen {
  readonly version: string
  readonly since: number
}

export function resourceQuotaLoop(parts: ResourceQuotaLoopParts): Loop {
  const seen = new Map<string, Seen>()
  return {
    name: 'resourcequota',
    sources: [follow(parts.informer)],
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
  const restMs = restLeft(parts, quota, step)
  if (restMs > 0) return { afterMs: restMs }
  const counted = await count(parts, quota, { names: Object.keys(hard), signal: step.signal })
  if (!sameAmounts(counted, used)) return await write(parts, quota, { hard, used: counted })
  return { afterMs: parts.quietMs }
}

/** How long the quota has yet to stay as it is before it can be counted anew. */
function restLeft({ clock, quietMs }: ResourceQuotaLoopParts, { metadata }: ApiObject, { key, seen }: Step): number {
  const { resourceVersion: version = '' } = metadata
  const now = clock.monotonic()
  const last = seen.get(key)
  if (last?.version === version) return last.since + quietMs - now
  seen.set(key, { version, since: now })
  return quietMs
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

function sameAmounts(a: Amounts, b: Amounts): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => readAmount(a, name)?.nanos === readAmount(b, name)?.nanos)
  )
}
