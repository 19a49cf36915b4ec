/**
 * `pods/eviction`: deletes a pod if the disruption budget that it counts for allows that. What the budget allows is
 * taken from its status by compare-and-set before the pod is deleted, so that of any number who ask at once, on any
 * number of servers, only so many are let through. Who is refused may try again: 429.
 *
 * A pod that has ended, or is going already, disrupts nobody; nor does one that has not started.
 */
import { type Pod, pod } from '../../api/kinds/core/pod.ts'
import { selects } from '../../api/kinds/meta/selecting.ts'
import { type Eviction, eviction, evictionV1beta1 } from '../../api/kinds/policy/eviction.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/kinds/policy/pod-disruption-budget.ts'
import { podDisruptionBudgets, pods } from '../../api/kinds/stored-types.ts'
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
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { assertPreconditions, deleteObject } from '../registry/verbs/delete.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { type JudgedDeleteOptions, judgeDeleteOptions } from '../registry/writes/delete-options.ts'
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
    doc: 'Deletes a Pod if its disruption budget allows that.',
    answer: (request) => evict(parts, request),
  }
}

/** How often a pod is looked at anew that changes while it is decided on. */
const maxLooks = 20

async function evict(parts: PodEvictionParts, request: EndpointRequest<Eviction>): Promise<ApiObject> {
  const { object: sent, name, query } = request
  if (sent.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object')
  const resource = parts.stored(pods)
  await assertExists(parts, request)
  const options = judgeDeleteOptions(sent.deleteOptions ?? {}, resource, { dryRun: query.getAll('dryRun') })
  for (let look = 0; look < maxLooks; look++) {
    const asked = { ...request, dryRun: options.dryRun }
    if (await evictOnce(parts, asked, options)) return successStatus(201)
  }
  throw serviceUnavailable(`pods "${name}" is changed too often; try again`)
}

/** The options are those of the pod's deletion: where there is no pod nobody asks what is wrong with them. */
async function assertExists({ lookup }: PodEvictionParts, { namespace, name }: EndpointRequest): Promise<void> {
  if ((await lookup.getLatest(pods, { namespace, name })) === undefined)
    throw notFound({ group: '', plural: 'pods' }, name)
}

/** Whether it is done; else the pod has changed meanwhile, and is to be looked at anew. */
async function evictOnce(parts: PodEvictionParts, request: EndpointRequest, options: JudgedDeleteOptions) {
  const { namespace, name } = request
  const found = await parts.lookup.getLatest(pods, { namespace, name })
  if (found === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const { object } = found
  // Before a budget is charged for what would be refused.
  assertPreconditions(parts.stored(pods), object, options)
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
    throw leave.taken ? failedHalfway(error, 'the disruption was granted') : error
  }
}

async function deletePod({ stored }: PodEvictionParts, request: EndpointRequest, options: JudgedDeleteOptions) {
  const { namespace, name, dryRun, abandoned } = request
  const write = ownWrite(stored(pods), { namespace, optionsKind: 'DeleteOptions', signal: abandoned() })
  await deleteObject({ ...write, dryRun }, name, options)
}

/** On what terms a pod may go. */
interface Leave {
  /** Only as it was seen: in another state the budget might count. */
  readonly ofThisVersion: boolean
  /** The budget that did not have to be asked. */
  readonly budget?: string
  /** Whether a budget was charged. */
  readonly taken?: boolean
}

async function askLeave(parts: PodEvictionParts, request: EndpointRequest, object: Pod): Promise<Leave> {
  const { metadata, status = {} } = object
  if (status.phase === 'Succeeded' || status.phase === 'Failed' || metadata.deletionTimestamp)
    return { ofThisVersion: false }
  if (status.phase === 'Pending') return { ofThisVersion: true }
  const [budget, ...more] = budgetsOf(parts.lookup, object)
  if (budget === undefined) return { ofThisVersion: false }
  if (more.length > 0) throw conflict({ group: '', plural: 'pods' }, request.name, tooManyBudgets)
  const { name = '' } = budget.metadata
  if (!isReady(object) && hasEnough(budget)) return { ofThisVersion: true, budget: name }
  await takeFrom(parts, request, name)
  return { ofThisVersion: false, taken: !request.dryRun }
}

const tooManyBudgets = 'it has more than one PodDisruptionBudget, which eviction does not support'

/** A pod without labels counts for nobody. */
function budgetsOf(lookup: Lookup, { metadata }: Pod): PodDisruptionBudget[] {
  const { labels = {}, namespace } = metadata
  if (Object.keys(labels).length === 0) return []
  return lookup
    .list(podDisruptionBudgets, { namespace })
    .map(({ object }) => object)
    .filter(({ spec }) => selects(spec?.selector, labels))
}

function isReady({ status = {} }: Pod): boolean {
  return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
}

/** What is not well does not count: it may go while enough others are. */
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

/** How many granted disruptions may be waiting to be seen by the controller. */
const mostWaiting = 2000

function assertLeft({ metadata }: ApiObject, status: PodDisruptionBudgetStatus): void {
  const { name = '', generation = 0 } = metadata
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = status
  if (observedGeneration < generation) throw stillProcessed(name)
  const refuse = (why: string) => forbiddenError({ group: 'policy', plural: 'poddisruptionbudgets' }, name, why)
  if (disruptionsAllowed < 0) throw refuse(`poddisruptionbudgets "${name}": it allows less than none`)
  if (Object.keys(disruptedPods).length > mostWaiting)
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

/** The status with one disruption less allowed. The pod is noted, so that it is not taken for well while it goes. */
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
  const told: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration ? { observedGeneration } : {}),
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
    reason: 'InsufficientPods',
    message: '',
  }
  return place < 0 ? [...conditions, told] : conditions.with(place, told)
}
