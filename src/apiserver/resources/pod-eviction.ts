/**
 * Deletes a pod if its disruption budget allows it (`pods/eviction`). A compare-and-set decrements the allowance in the
 * status of the budget before the pod is deleted, so concurrent requests on any number of servers cannot exceed the
 * budget. Rejected callers receive 429 and may retry.
 *
 * Budgets do not protect pods that have finished, are terminating or have not started.
 */
import { defined } from '../../api/json/json.ts'
import { parseNative } from '../../api/json/native-json.ts'
import { type Pod, pod } from '../../api/kinds/core/pod.ts'
import { selects } from '../../api/kinds/meta/selecting.ts'
import { type Eviction, eviction, evictionV1beta1 } from '../../api/kinds/policy/eviction.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/kinds/policy/pod-disruption-budget.ts'
import { podDisruptionBudget as podDisruptionBudgets } from '../../api/kinds/policy/pod-disruption-budget.ts'
import {
  ApiError,
  badRequest,
  conflict,
  forbiddenError,
  notFound,
  serviceUnavailable,
} from '../../api/model/api-error.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import { emulationOf } from '../../api/schema/context.ts'
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { assertPreconditions, deleteObject } from '../registry/verbs/delete.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { type EvaluatedDeleteOptions, evaluateDeleteOptions } from '../registry/writes/delete-options.ts'
import { ownWrite } from '../registry/writes/server-write.ts'
import { failedHalfway } from '../registry/writes/write.ts'
import { successStatus } from './success-status.ts'

export interface PodEvictionParts {
  readonly lookup: Lookup
  readonly stored: (type: StoredType) => Resource
}

export function podEviction(parts: PodEvictionParts): Endpoint<Eviction> {
  return {
    kind: pod,
    subresource: 'eviction',
    verbs: ['create'],
    type: eviction,
    alsoTakes: [evictionV1beta1],
    admits: 'CREATE',
    doc: 'Deletes a Pod if its disruption budget allows it.',
    answer: (request) => evict(parts, request),
  }
}

/** Maximum number of attempts if the pod changes during its eviction. */
const maxLooks = 20

async function evict(parts: PodEvictionParts, request: EndpointRequest<Eviction>): Promise<ApiObject> {
  const { object: sent, name, query } = request
  if (sent.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object')
  const resource = parts.stored(pod)
  await assertExists(parts, request)
  const options = evaluateDeleteOptions(sent.deleteOptions ?? {}, resource, { dryRun: query.getAll('dryRun') })
  for (let look = 0; look < maxLooks; look++) {
    const asked = { ...request, dryRun: options.dryRun }
    if (await evictOnce(parts, asked, options)) return successStatus(201)
  }
  throw serviceUnavailable(`pods "${name}" changes too often; try again`)
}

/**
 * Throws 404 if the pod does not exist. Called before the options are validated, so that a missing pod is reported
 * first.
 */
async function assertExists({ lookup }: PodEvictionParts, { namespace, name }: EndpointRequest): Promise<void> {
  if ((await lookup.getLatest(pod, { namespace, name })) === undefined)
    throw notFound({ group: '', plural: 'pods' }, name)
}

/** Tries to evict a pod. Returns false if the pod changed in the meantime, so that the eviction must be tried again. */
async function evictOnce(parts: PodEvictionParts, request: EndpointRequest, options: EvaluatedDeleteOptions) {
  const { namespace, name } = request
  const storedPod = await parts.lookup.getLatest(pod, { namespace, name })
  if (storedPod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const { object } = storedPod
  // Check the preconditions before charging the budget, so that a deletion that would fail anyway is not charged.
  assertPreconditions(parts.stored(pod), object, options)
  const leave = await askLeave(parts, request, object)
  const { resourceVersion: version } = object.metadata
  const isVersionGiven = options.preconditions.some(({ resourceVersion }) => resourceVersion !== undefined)
  const bound = leave.ofThisVersion && !isVersionGiven
  try {
    const preconditions = [...options.preconditions, ...(bound ? [{ resourceVersion: version }] : [])]
    await deletePod(parts, request, { ...options, preconditions })
    return true
  } catch (error) {
    if (bound && error instanceof ApiError && error.reason === 'Conflict') {
      if (leave.budget !== undefined) throw stillProcessed(leave.budget)
      return false
    }
    throw leave.taken ? failedHalfway(error, 'the disruption was allowed') : error
  }
}

async function deletePod({ stored }: PodEvictionParts, request: EndpointRequest, options: EvaluatedDeleteOptions) {
  const { namespace, name, dryRun, abandoned } = request
  const resource = stored(pod)
  const recorded = dryRun || !recordsReason(resource) ? options : await recordReason(resource, request, options)
  const write = ownWrite(resource, { namespace, optionsKind: 'DeleteOptions', signal: abandoned() })
  await deleteObject({ ...write, dryRun }, name, recorded)
}

function recordsReason({ context }: Resource): boolean {
  return emulationOf(context).gates.has('PodDisruptionConditions')
}

/**
 * Adds the condition DisruptionTarget to a pod, for the pod's controller. Returns delete options that require the pod
 * to still have this condition.
 */
async function recordReason(resource: Resource, request: EndpointRequest, options: EvaluatedDeleteOptions) {
  const { namespace, name, abandoned } = request
  const write = { namespace, subresource: 'status', optionsKind: 'UpdateOptions', signal: abandoned() } as const
  const json = await updateObject(ownWrite(resource, write), name, (previous) => {
    assertPreconditions(resource, previous, options)
    return { object: withReason(previous, timestamp(resource.clock.now())), managed: false }
  })
  const { resourceVersion } = (parseNative(json.toString()) as unknown as ApiObject).metadata
  const preconditions = options.preconditions.map((each) =>
    each.resourceVersion === undefined ? each : { ...each, ...defined({ resourceVersion }) },
  )
  return { ...options, preconditions }
}

function withReason(object: Pod, now: string): Pod {
  const { conditions = [], ...status } = object.status ?? {}
  const before = conditions.find(({ type }) => type === 'DisruptionTarget')
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: before?.status === 'True' ? (before.lastTransitionTime ?? now) : now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  const others = conditions.filter((each) => each !== before)
  return { ...object, status: { ...status, conditions: [...others, condition] } }
}

/** The approval of an eviction, with the budget that approved it, if any. */
interface Leave {
  /**
   * Whether the deletion must name the current version of the pod. Set if no budget was charged but a budget could
   * protect a later version, for example when a pending pod becomes ready.
   */
  readonly ofThisVersion: boolean
  /** The name of the budget that allowed the eviction without being charged. */
  readonly budget?: string
  /** Whether the eviction was charged to a budget. */
  readonly taken?: boolean
}

async function askLeave(parts: PodEvictionParts, request: EndpointRequest, object: Pod): Promise<Leave> {
  const { metadata, status = {} } = object
  if (status.phase === 'Succeeded' || status.phase === 'Failed' || metadata.deletionTimestamp)
    return { ofThisVersion: false }
  if (status.phase === 'Pending') return { ofThisVersion: true }
  const [budget, ...more] = await budgetsOf(parts.lookup, object)
  if (budget === undefined) return { ofThisVersion: false }
  if (more.length > 0) throw conflict({ group: '', plural: 'pods' }, request.name, tooManyBudgets)
  const { name = '' } = budget.metadata
  if (!isReady(object) && (allowsUnhealthy(budget) || hasEnough(budget))) return { ofThisVersion: true, budget: name }
  await takeFrom(parts, request, name)
  return { ofThisVersion: false, taken: !request.dryRun }
}

const tooManyBudgets = 'it has more than one PodDisruptionBudget, which eviction does not support'

/** Returns at most two of the budgets that select the pod. No budget selects a pod without labels. */
async function budgetsOf(lookup: Lookup, { metadata }: Pod): Promise<PodDisruptionBudget[]> {
  const { labels = {}, namespace } = metadata
  const found: PodDisruptionBudget[] = []
  if (Object.keys(labels).length === 0) return found
  for await (const { object } of lookup.each(podDisruptionBudgets, { namespace })) {
    if (!selects(object.spec?.selector, labels)) continue
    found.push(object)
    if (found.length > 1) break
  }
  return found
}

function isReady({ status = {} }: Pod): boolean {
  return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
}

/** Returns whether the budget allows the eviction of unready pods at any time. */
function allowsUnhealthy({ spec }: PodDisruptionBudget): boolean {
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow'
}

/** Returns whether a budget is met without the unhealthy pod, so that the pod's eviction need not be charged. */
function hasEnough({ status = {} }: PodDisruptionBudget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

async function takeFrom({ stored }: PodEvictionParts, request: EndpointRequest, budget: string): Promise<void> {
  const { namespace, name, dryRun, abandoned } = request
  const resource = stored(podDisruptionBudgets)
  const options = { namespace, subresource: 'status', optionsKind: 'UpdateOptions', signal: abandoned() } as const
  await updateObject({ ...ownWrite(resource, options), dryRun }, budget, (previous) => {
    const { status = {} }: PodDisruptionBudget = previous
    assertLeft(previous, status)
    const charged = withDisruption(status, name, timestamp(resource.clock.now()))
    return { object: { ...previous, status: charged }, managed: false }
  })
}

/** Maximum number of approved evictions that the disruption controller has not processed yet. */
const maxWaiting = 2000

function assertLeft({ metadata }: ApiObject, status: PodDisruptionBudgetStatus): void {
  const { name = '', generation = 0 } = metadata
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = status
  if (observedGeneration < generation) throw stillProcessed(name)
  const refuse = (why: string) => forbiddenError({ group: 'policy', plural: 'poddisruptionbudgets' }, name, why)
  if (disruptionsAllowed < 0) throw refuse(`poddisruptionbudgets "${name}": disruptionsAllowed is negative`)
  if (Object.keys(disruptedPods).length > maxWaiting)
    throw refuse(`poddisruptionbudgets "${name}": too many evictions are not confirmed by its controller yet`)
  if (disruptionsAllowed === 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status
    throw refused(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    )
  }
}

function stillProcessed(budget: string): ApiError {
  return refused(`The disruption budget ${budget} is still being processed by the server.`, 10)
}

function refused(message: string, retryAfterSeconds?: number): ApiError {
  return new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

/**
 * Returns the status with one fewer allowed disruption. Records the pod in the status, so that it does not count as
 * healthy while it terminates.
 */
function withDisruption(status: PodDisruptionBudgetStatus, name: string, now: string): PodDisruptionBudgetStatus {
  const disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1
  return {
    ...status,
    disruptionsAllowed,
    disruptedPods: { ...status.disruptedPods, [name]: now },
    ...(disruptionsAllowed === 0 ? { conditions: withNoneLeft(status, now) } : {}),
  }
}

type Condition = NonNullable<PodDisruptionBudgetStatus['conditions']>[number]

function withNoneLeft({ conditions = [], observedGeneration }: PodDisruptionBudgetStatus, now: string): Condition[] {
  const place = conditions.findIndex(({ type }) => type === 'DisruptionAllowed')
  const before = conditions[place]
  const disruptionCondition: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration ? { observedGeneration } : {}),
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
    reason: 'InsufficientPods',
    message: '',
  }
  return place < 0 ? [...conditions, disruptionCondition] : conditions.with(place, disruptionCondition)
}
