/**
 * ResourceQuota: keeps the total usage of a namespace within its quotas. This plugin is the last in the chain, so that
 * the charged usage is exactly the usage of the stored object.
 *
 * A write that increases usage is charged before the commit and refunded if the commit fails. A write that reduces
 * usage is refunded after the commit. Pending refunds are stored (`quota/pending-refunds.ts`), so that no refund is
 * lost in a crash. The enforced limits are in the quota's status, which the loop in
 * `cluster/controllers/resource-quota.ts` writes. A quota limits nothing until the loop has written its status.
 */

import type { ResourceQuota } from '../../../api/kinds/core/resource-quota.ts'
import { resourceQuota as resourceQuotas } from '../../../api/kinds/core/resource-quota.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { Lookup, ObjectName, StoredObject } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Amounts, above, add, negative, only, readAmount } from '../../../api/model/quota/amounts.ts'
import { asPod, containersOf, hasPodResources } from '../../../api/model/quota/counted-pod.ts'
import { counts, holds, requirementsOf } from '../../../api/model/quota/scopes.ts'
import { isCounted, isPods, namesStated, usageOf, usageVaries } from '../../../api/model/quota/usage.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { errorFields, type Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { AdmissionRequest, Control, WriteOutcome } from '../admission.ts'
import type { Ending } from '../commit-terms.ts'
import type { OwnWrites } from '../own-writes.ts'
import type { QuotaActivity } from '../quota/activity.ts'
import { whyNot } from '../quota/judgement.ts'
import { Ledger } from '../quota/ledger.ts'
import { type LimitedResource, uncovered } from '../quota/limited-resources.ts'
import { newRefundKey, type PendingRefund, recordOf, refundsPrefixOf } from '../quota/pending-refunds.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly ownWrites: OwnWrites
  readonly quotaActivity: QuotaActivity
  readonly clock: Clock
  readonly log: Log
}

export function resourceQuota(parts: Parts, limited: readonly LimitedResource[] = []): Control {
  const ledger = new Ledger(parts.ownWrites)
  return {
    name: 'ResourceQuota',
    accounts: true,
    handles: { operations: ['CREATE', 'UPDATE', 'DELETE'] },
    validate: (request) => {
      if (writesUsage(request)) return voidRefunds(parts, request)
      if (!mayMatter(request)) return undefined
      const quotas = quotasOf(parts.lookup, request)
      if (quotas.length === 0 && limited.length === 0) return undefined
      return account(accountingOf({ ...parts, ledger, limited }, request), quotas)
    },
  }
}

/**
 * Returns the namespace's quotas. If a quota is unreadable, throws an error for a write that may increase usage,
 * because the quota's limits are unknown.
 */
function quotasOf(lookup: Lookup, request: AdmissionRequest): StoredObject<ResourceQuota>[] {
  const { namespace, operation, subresource, object } = request
  const isEnding = operation === 'DELETE' || object?.metadata.deletionTimestamp !== undefined
  return lookup.list(resourceQuotas, { namespace, whole: !isEnding && isCharged(subresource) })
}

/**
 * Whether the write is charged to quotas before its commit. True for writes of the object itself and for pod resizes.
 */
function isCharged(subresource: string): boolean {
  return subresource === '' || subresource === 'resize'
}

/** Whether the write can change the usage. Most writes cannot, and the plugin ignores them. */
function mayMatter(request: AdmissionRequest): boolean {
  const { operation, type, subresource, namespace, vendor, object, dryRun, onOutcome } = request
  if (namespace === '' || (onOutcome === undefined && !dryRun) || !isCounted(type, vendor)) return false
  if (operation !== 'UPDATE') return subresource === ''
  if (subresource === 'resize') return isPods(type)
  // A terminated pod uses no resources, and an update can complete the deletion of a terminating object. Both change
  // the usage.
  if (subresource !== '' && !(subresource === 'status' && isPods(type))) return false
  return usageVaries(type, vendor) || object?.metadata.deletionTimestamp !== undefined
}

interface Means extends Parts {
  readonly ledger: Ledger
  readonly limited: readonly LimitedResource[]
}

interface Accounting extends Means {
  readonly request: AdmissionRequest
  /** The object's resource usage before and after the write. */
  readonly after: Amounts
  readonly before: Amounts
}

function accountingOf(means: Means, request: AdmissionRequest): Accounting {
  const context = { vendor: means.vendor, now: means.clock.now() }
  const usage = (object: ApiObject | undefined): Amounts =>
    object === undefined ? new Map() : usageOf(request.type, object, context)
  return { ...means, request, after: usage(request.object), before: usage(request.oldObject) }
}

/** The change in usage that a write causes for one quota. */
interface Plan {
  readonly quota: StoredObject<ResourceQuota>
  readonly name: ObjectName
  /** Usage that the write adds. */
  readonly increase: Amounts
  /** Usage that the write frees, as negative amounts. */
  readonly decrease: Amounts
  /** Usage of the object before the write. This usage is refunded if the object is removed. */
  readonly before: Amounts
}

async function account(accounting: Accounting, knownQuotas: readonly StoredObject<ResourceQuota>[]): Promise<void> {
  const { request, quotaActivity } = accounting
  if (request.dryRun) return void (await judge(accounting, knownQuotas))
  const end = await quotaActivity.begin(request.namespace)
  let plans: readonly Plan[]
  try {
    plans = await judge(accounting, knownQuotas)
  } catch (error) {
    end()
    throw error
  }
  const refunds: PendingRefunds = { charges: [], stored: [], removed: [] }
  request.onOutcome!((outcome) => refundDue(accounting, refunds, outcome).finally(end))
  for (const plan of plans) addRefundsToCommit(accounting, plan, refunds)
  await charge(accounting, plans, refunds)
}

/** The pending refunds of a write, by the outcome that makes them due. */
interface PendingRefunds {
  /** Refunds of the charges, due if the write fails. The commit that stores the object deletes them. */
  readonly charges: PendingRefund[]
  readonly stored: PendingRefund[]
  readonly removed: PendingRefund[]
}

/** Stores the refund for reduced usage in the commit that reduces the usage. */
function addRefundsToCommit({ request }: Accounting, plan: Plan, { stored, removed }: PendingRefunds): void {
  const { operation, subresource } = request
  const { increase, decrease, before } = plan
  // Status updates are never charged before the commit, so their refund also includes any increase in usage. An object
  // that is merely marked for deletion stays charged.
  const change = isCharged(subresource) ? decrease : add(increase, decrease)
  if (operation !== 'DELETE' && change.size > 0) stored.push(addRefund(request, 'stored', { plan, change }))
  if (before.size > 0) removed.push(addRefund(request, 'removed', { plan, change: negative(before) }))
}

function addRefund(
  request: AdmissionRequest,
  ending: Ending,
  { plan, change }: { plan: Plan; change: Amounts },
): PendingRefund {
  const refund = { key: newRefundKey(plan.name), quota: plan.name, uid: plan.quota.object.metadata.uid ?? '', change }
  request.commitWith!(ending, { reserves: [recordOf(refund)] })
  return refund
}

/**
 * Maximum number of charges that can become preconditions of a commit. An etcd transaction has at most 128 comparisons.
 */
const maxCharges = 20

async function charge(
  { request, ledger }: Accounting,
  plans: readonly Plan[],
  { charges }: PendingRefunds,
): Promise<void> {
  // Do not charge a pod's status update, because it reports facts and must never be rejected.
  if (!isCharged(request.subresource)) return
  for (const plan of plans) {
    if (plan.increase.size === 0) continue
    const outcome = await ledger.charge(plan.name, plan.increase)
    if ('refused' in outcome) throw refusal(request, outcome.refused)
    if (outcome.refund === undefined) continue
    const { key } = outcome.refund
    charges.push(outcome.refund)
    request.commitWith!('stored', { releases: [key] })
    // If another server has refunded the charge in the meantime, the commit fails and the write goes through admission
    // again.
    if (charges.length <= maxCharges) request.dependOn!({ key, revision: 'present' })
  }
}

/** Checks the write against the cached quotas. Before rejecting the write, rereads the quotas from the store. */
async function judge(accounting: Accounting, knownQuotas: readonly StoredObject<ResourceQuota>[]): Promise<Plan[]> {
  const { lookup, request } = accounting
  try {
    return plansFor(accounting, knownQuotas)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await lookup.getLatest(resourceQuotas, { namespace: request.namespace, name: '' })
    return plansFor(accounting, quotasOf(lookup, request))
  }
}

function plansFor(accounting: Accounting, quotas: readonly StoredObject<ResourceQuota>[]): Plan[] {
  const { request } = accounting
  const plans = quotas.map((quota) => planFor(accounting, quota))
  if (request.operation === 'DELETE' || !isCharged(request.subresource)) return plans
  for (const plan of plans) assertFits(accounting, plan)
  assertCovered(accounting, quotas)
  const unsettled = quotas.filter((quota) => isUnsettled(quota, accounting))
  for (const quota of unsettled.slice(0, maxRestedOn)) request.dependOn?.(quota)
  return plans
}

/** Maximum number of quotas without a status that become preconditions of a write. */
const maxRestedOn = 20

function planFor(accounting: Accounting, quota: StoredObject<ResourceQuota>): Plan {
  const { request } = accounting
  const { hard = {} } = statusOf(quota)
  const after = isMeantFor(quota, request, request.object) ? only(accounting.after, hard) : new Map()
  const before = isMeantFor(quota, request, request.oldObject) ? only(accounting.before, hard) : new Map()
  const change = add(after, negative(before))
  return {
    quota,
    name: { namespace: request.namespace, name: quota.object.metadata.name! },
    increase: above(change),
    decrease: negative(above(negative(change))),
    before,
  }
}

function isMeantFor(quota: StoredObject, { type }: AdmissionRequest, object: ApiObject | undefined): boolean {
  return object !== undefined && counts(specOf(quota), type, object)
}

function specOf({ object }: StoredObject<ResourceQuota>): NonNullable<ResourceQuota['spec']> {
  return object.spec ?? {}
}

function statusOf({ object }: StoredObject<ResourceQuota>): NonNullable<ResourceQuota['status']> {
  return object.status ?? {}
}

function assertFits({ request, vendor }: Accounting, { quota, name, increase }: Plan): void {
  const missing = missingIn(request, quota, vendor)
  if (missing.length > 0) throw refusal(request, `failed quota: ${name.name}: must specify ${missing.join(',')}`)
  const refused = whyNot(name.name, statusOf(quota), increase)
  if (refused !== undefined) throw refusal(request, refused)
}

/** Resources that every container must specify if a quota limits them. */
const mustBeStated = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

function missingIn({ operation, type, object }: AdmissionRequest, quota: StoredObject, vendor: Vendor): string[] {
  if (operation !== 'CREATE' || !isPods(type) || !counts(specOf(quota), type, object!)) return []
  const { hard = {} } = statusOf(quota)
  const requiredNames = mustBeStated.filter((name) => Object.hasOwn(hard, name))
  if (requiredNames.length === 0 || hasPodResources(asPod(object!))) return []
  const stated = containersOf(asPod(object!)).map((container) => namesStated(container, vendor))
  return requiredNames.filter((name) => stated.some((names) => !names.has(name))).sort()
}

function assertCovered(
  { request, limited, after, before }: Accounting,
  quotas: readonly StoredObject<ResourceQuota>[],
): void {
  const { type, object } = request
  if (limited.length === 0 || object === undefined) return
  const why = uncovered(limited, {
    type,
    object,
    increase: above(add(after, negative(before))),
    hard: quotas.filter((quota) => isMeantFor(quota, request, object)).map((quota) => statusOf(quota).hard ?? {}),
    scopes: quotas
      .flatMap((quota) => requirementsOf(specOf(quota)))
      .filter((requirement) => holds(requirement, type, object)),
  })
  if (why !== undefined) throw refusal(request, why)
}

/**
 * Whether the status of the quota lacks some of the limits in its spec. Writes must wait until the status contains
 * these limits.
 */
function isUnsettled(quota: StoredObject, { request, after }: Accounting): boolean {
  const { hard: wanted = {} } = specOf(quota)
  const { hard = {} } = statusOf(quota)
  const unknown = [...only(after, wanted).keys()].some((name) => !Object.hasOwn(hard, name))
  return unknown && isMeantFor(quota, request, request.object)
}

/**
 * Carries out the refunds that are due after a write. If the outcome of the write is unknown,
 * `apiserver/upkeep/quota-refunds.ts` carries them out later.
 */
async function refundDue({ ledger, log }: Accounting, refunds: PendingRefunds, outcome: WriteOutcome): Promise<void> {
  if (outcome === 'unknown') return
  const due =
    outcome === 'stored' ? refunds.stored : [...refunds.charges, ...(outcome === 'removed' ? refunds.removed : [])]
  for (const refund of due)
    await ledger.refund(refund).catch((error: unknown) => {
      log.error('cannot release quota; will retry', { ...refund.quota, ...errorFields(error) })
    })
}

/**
 * Deletes the pending refunds of a quota when a recount replaces the quota's usage, because the recount already
 * includes them. If this discards the charge of a concurrent write, the precondition of that write fails, and the write
 * is admitted again.
 */
async function voidRefunds({ ownWrites }: Parts, request: AdmissionRequest): Promise<void> {
  const [before, after] = [request.oldObject, request.object].map((quota) => asQuota(quota).status?.used ?? {})
  const isRecounted = (name: string) => readAmount(before, name)?.nanos !== readAmount(after, name)?.nanos
  if (!Object.keys(before!).some(isRecounted)) return
  const { namespace, name } = request
  const releases = (await ownWrites.reservedKeys(refundsPrefixOf({ namespace, name }))).map(({ key }) => key)
  if (releases.length > 0) request.commitWith?.('stored', { releases })
}

function asQuota(object: ApiObject | undefined): Pick<ResourceQuota, 'status'> {
  return (object ?? {}) as Pick<ResourceQuota, 'status'>
}

/** Whether the request updates the recorded usage of a quota. */
function writesUsage({ operation, type, subresource, dryRun }: AdmissionRequest): boolean {
  const isQuota = type.group === '' && type.plural === resourceQuotas.plural
  return isQuota && operation === 'UPDATE' && subresource === 'status' && !dryRun
}
