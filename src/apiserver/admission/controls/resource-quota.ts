/**
 * ResourceQuota: what the objects of a namespace use together stays within its quotas. Last in the chain: what it
 * charges is what will be stored.
 *
 * A write that uses more is charged before it happens, and what was charged is given back if it does not happen; a
 * write that uses less gives back after it happened. What is to be given back is a debt in the store until it is
 * (`quota/debts.ts`), so that a server that is killed in between takes nothing with it. What is enforced is in the
 * status of the quota, which the loop of `cluster/controllers/resource-quota.ts` puts there; until then a quota limits nothing.
 */

import type { ResourceQuota } from '../../../api/kinds/core/resource-quota.ts'
import { resourceQuota as resourceQuotas } from '../../../api/kinds/core/resource-quota.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { Found, Lookup, ObjectName } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Amounts, above, add, negative, only, readAmount } from '../../../api/model/quota/amounts.ts'
import { asPod, containersOf } from '../../../api/model/quota/counted-pod.ts'
import { counts, holds, requirementsOf } from '../../../api/model/quota/scopes.ts'
import { isCounted, isPods, namesStated, usageOf, usageVaries } from '../../../api/model/quota/usage.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { errorFields, type Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { AdmissionRequest, Control, WriteOutcome } from '../admission.ts'
import type { Ending } from '../commit-terms.ts'
import type { OwnWrites } from '../own-writes.ts'
import type { QuotaActivity } from '../quota/activity.ts'
import { type Debt, debtsOf, newDebtKey, recordOf } from '../quota/debts.ts'
import { whyNot } from '../quota/judgement.ts'
import { Ledger } from '../quota/ledger.ts'
import { type LimitedResource, uncovered } from '../quota/limited-resources.ts'
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
      if (writesUsage(request)) return voidDebts(parts, request)
      if (!mayMatter(request)) return undefined
      const quotas = quotasOf(parts.lookup, request)
      if (quotas.length === 0 && limited.length === 0) return undefined
      return account(accountingOf({ ...parts, ledger, limited }, request), quotas)
    },
  }
}

/** A quota that cannot be read limits nobody knows what, so nothing more is used until it is mended or deleted. */
function quotasOf(lookup: Lookup, request: AdmissionRequest): Found<ResourceQuota>[] {
  const { namespace, operation, subresource, object } = request
  const isEnding = operation === 'DELETE' || object?.metadata.deletionTimestamp !== undefined
  return lookup.list(resourceQuotas, { namespace, whole: !isEnding && subresource === '' })
}

/** Most writes change nothing of what is used, and are done with here. */
function mayMatter(request: AdmissionRequest): boolean {
  const { operation, type, subresource, namespace, vendor, object, dryRun, onOutcome } = request
  if (namespace === '' || (onOutcome === undefined && !dryRun) || !isCounted(type, vendor)) return false
  if (operation !== 'UPDATE') return subresource === ''
  // A pod that ends uses nothing any more; what is being deleted may go with this write.
  if (subresource !== '' && !(subresource === 'status' && isPods(type))) return false
  return usageVaries(type) || object?.metadata.deletionTimestamp !== undefined
}

interface Means extends Parts {
  readonly ledger: Ledger
  readonly limited: readonly LimitedResource[]
}

interface Accounting extends Means {
  readonly request: AdmissionRequest
  /** What the object uses after the write and before it, in all quotas. */
  readonly after: Amounts
  readonly before: Amounts
}

function accountingOf(means: Means, request: AdmissionRequest): Accounting {
  const context = { vendor: means.vendor, now: means.clock.now() }
  const usage = (object: ApiObject | undefined): Amounts =>
    object === undefined ? new Map() : usageOf(request.type, object, context)
  return { ...means, request, after: usage(request.object), before: usage(request.oldObject) }
}

/** What a write means for one quota. */
interface Plan {
  readonly quota: Found<ResourceQuota>
  readonly name: ObjectName
  /** What it uses more than before. */
  readonly increase: Amounts
  /** What it uses less, as negative amounts. */
  readonly decrease: Amounts
  /** What the stored object uses. */
  readonly before: Amounts
}

async function account(accounting: Accounting, known: readonly Found<ResourceQuota>[]): Promise<void> {
  const { request, quotaActivity } = accounting
  if (request.dryRun) return void (await judge(accounting, known))
  const end = await quotaActivity.begin(request.namespace)
  let plans: readonly Plan[]
  try {
    plans = await judge(accounting, known)
  } catch (error) {
    end()
    throw error
  }
  const debts: Debts = { charges: [], stored: [], removed: [] }
  request.onOutcome!((outcome) => settle(accounting, debts, outcome).finally(end))
  for (const plan of plans) oweWithCommit(accounting, plan, debts)
  await charge(accounting, plans, debts)
}

/** What quotas are owed, by how the write ends. */
interface Debts {
  /** What was charged is owed until the object is stored, whose commit cancels it. */
  readonly charges: Debt[]
  readonly stored: Debt[]
  readonly removed: Debt[]
}

/** What the write uses less is owed to the quota from the very commit on by which it does. */
function oweWithCommit({ request }: Accounting, plan: Plan, { stored, removed }: Debts): void {
  const { operation, subresource } = request
  const { increase, decrease, before } = plan
  // What is only marked as being deleted is still there. The status of a pod says what is, and is not charged before.
  const change = subresource === '' ? decrease : add(increase, decrease)
  if (operation !== 'DELETE' && change.size > 0) stored.push(owe(request, 'stored', { plan, change }))
  if (before.size > 0) removed.push(owe(request, 'removed', { plan, change: negative(before) }))
}

function owe(request: AdmissionRequest, ending: Ending, { plan, change }: { plan: Plan; change: Amounts }): Debt {
  const debt = { key: newDebtKey(plan.name), quota: plan.name, uid: plan.quota.object.metadata.uid ?? '', change }
  request.commitWith!(ending, { takes: [recordOf(debt)] })
  return debt
}

/** How many charges a commit makes sure of: a transaction of etcd compares 128 keys. */
const maxCharges = 20

async function charge({ request, ledger }: Accounting, plans: readonly Plan[], { charges }: Debts): Promise<void> {
  // The status of a pod says what is, and is not refused.
  if (request.subresource !== '') return
  for (const plan of plans) {
    if (plan.increase.size === 0) continue
    const outcome = await ledger.charge(plan.name, plan.increase)
    if ('refused' in outcome) throw refusal(request, outcome.refused)
    if (outcome.debt === undefined) continue
    const { key } = outcome.debt
    charges.push(outcome.debt)
    request.commitWith!('stored', { releases: [key] })
    // Somebody else may have given it back meanwhile: then it is decided anew.
    if (charges.length <= maxCharges) request.dependOn!({ key, revision: 'present' })
  }
}

/** Whether it fits, as far as this server knows. Before it refuses anything it finds out what is most recent. */
async function judge(accounting: Accounting, known: readonly Found<ResourceQuota>[]): Promise<Plan[]> {
  const { lookup, request } = accounting
  try {
    return judgeBy(accounting, known)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await lookup.getLatest(resourceQuotas, { namespace: request.namespace, name: '' })
    return judgeBy(accounting, quotasOf(lookup, request))
  }
}

function judgeBy(accounting: Accounting, quotas: readonly Found<ResourceQuota>[]): Plan[] {
  const { request } = accounting
  const plans = quotas.map((quota) => planFor(accounting, quota))
  if (request.operation === 'DELETE' || request.subresource !== '') return plans
  for (const plan of plans) assertFits(accounting, plan)
  assertCovered(accounting, quotas)
  const unsettled = quotas.filter((quota) => isUnsettled(quota, accounting))
  for (const quota of unsettled.slice(0, maxRestedOn)) request.dependOn?.(quota)
  return plans
}

/** How many quotas that nobody has looked at yet a write waits for at most. */
const maxRestedOn = 20

function planFor(accounting: Accounting, quota: Found<ResourceQuota>): Plan {
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

function isMeantFor(quota: Found, { type }: AdmissionRequest, object: ApiObject | undefined): boolean {
  return object !== undefined && counts(specOf(quota), type, object)
}

function specOf({ object }: Found<ResourceQuota>): NonNullable<ResourceQuota['spec']> {
  return object.spec ?? {}
}

function statusOf({ object }: Found<ResourceQuota>): NonNullable<ResourceQuota['status']> {
  return object.status ?? {}
}

function assertFits({ request, vendor }: Accounting, { quota, name, increase }: Plan): void {
  const missing = missingIn(request, quota, vendor)
  if (missing.length > 0) throw refusal(request, `failed quota: ${name.name}: must specify ${missing.join(',')}`)
  const refused = whyNot(name.name, statusOf(quota), increase)
  if (refused !== undefined) throw refusal(request, refused)
}

/** Where these are limited every container must say how much it needs. */
const mustBeStated = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

function missingIn({ operation, type, object }: AdmissionRequest, quota: Found, vendor: Vendor): string[] {
  if (operation !== 'CREATE' || !isPods(type) || !counts(specOf(quota), type, object!)) return []
  const { hard = {} } = statusOf(quota)
  const wanted = mustBeStated.filter((name) => Object.hasOwn(hard, name))
  if (wanted.length === 0) return []
  const stated = containersOf(asPod(object!)).map((container) => namesStated(container, vendor))
  return wanted.filter((name) => stated.some((names) => !names.has(name))).sort()
}

function assertCovered({ request, limited, after, before }: Accounting, quotas: readonly Found<ResourceQuota>[]): void {
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

/** Whether the quota wants to limit what it does not yet: the write must not overtake that. */
function isUnsettled(quota: Found, { request, after }: Accounting): boolean {
  const { hard: wanted = {} } = specOf(quota)
  const { hard = {} } = statusOf(quota)
  const unknown = [...only(after, wanted).keys()].some((name) => !Object.hasOwn(hard, name))
  return unknown && isMeantFor(quota, request, request.object)
}

/** Where the outcome is not known, so is what is owed: `apiserver/upkeep/quota-debts.ts` finds out. */
async function settle({ ledger, log }: Accounting, debts: Debts, outcome: WriteOutcome): Promise<void> {
  if (outcome === 'unknown') return
  const due = outcome === 'stored' ? debts.stored : [...debts.charges, ...(outcome === 'removed' ? debts.removed : [])]
  for (const debt of due)
    await ledger.settle(debt).catch((error: unknown) => {
      log.error('failed to release quota; it is tried again later', { ...debt.quota, ...errorFields(error) })
    })
}

/**
 * Whoever counts what is in use and writes it has counted what was owed until then too: those debts are void. A write
 * under way whose charge was not counted is decided anew.
 */
async function voidDebts({ ownWrites }: Parts, request: AdmissionRequest): Promise<void> {
  const [before, after] = [request.oldObject, request.object].map((quota) => asQuota(quota).status?.used ?? {})
  const isRecounted = (name: string) => readAmount(before, name)?.nanos !== readAmount(after, name)?.nanos
  if (!Object.keys(before!).some(isRecounted)) return
  const { namespace, name } = request
  const releases = (await ownWrites.taken(debtsOf({ namespace, name }))).map(({ key }) => key)
  if (releases.length > 0) request.commitWith?.('stored', { releases })
}

function asQuota(object: ApiObject | undefined): Pick<ResourceQuota, 'status'> {
  return (object ?? {}) as Pick<ResourceQuota, 'status'>
}

/** Whether it writes what is in use of a quota. */
function writesUsage({ operation, type, subresource, dryRun }: AdmissionRequest): boolean {
  const isQuota = type.group === '' && type.plural === resourceQuotas.plural
  return isQuota && operation === 'UPDATE' && subresource === 'status' && !dryRun
}
