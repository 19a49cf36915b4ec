/**
 * What flow control is built on exists (`kinds/flowcontrol/types/mandatory.ts`), and every FlowSchema says in its status
 * whether the priority level that it names does: the condition `Dangling` is True where there is none. Every server
 * keeps that up from what it hears; those that find it said already write nothing.
 */
import { type StepOutcome, WorkQueue } from '../controllers/work-queue.ts'
import type { WorkQueueMetrics } from '../controllers/work-queue-metrics.ts'
import { type FlowSchema, flowSchema } from '../kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../kinds/flowcontrol/types/mandatory.ts'
import type { Json } from '../model/json.ts'
import { type ApiObject, timestamp } from '../model/object.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { ownWrite } from '../registry/own-write.ts'
import { readObject } from '../registry/read-stored.ts'
import { keyOf, type Resource } from '../registry/resource.ts'
import { updateObject } from '../registry/update.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { createMissing, ifThere } from './own-writes.ts'

interface Parts {
  readonly catalogue: Catalogue
  readonly metrics: WorkQueueMetrics
  readonly log: Log
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

interface FlowKinds {
  readonly schemas: Resource
  readonly levels: Resource
}

/** Resolves when the mandatory objects are there. The caches have been loaded. */
export async function startFlowSchemas({ catalogue, metrics, log, opened }: Parts): Promise<void> {
  const schemas = catalogue.stored(flowSchema.group, flowSchema.plural)
  const levels = catalogue.stored(priorityLevelConfiguration.group, priorityLevelConfiguration.plural)
  // A server may be made of other kinds alone, as some tests do.
  if (schemas === undefined || levels === undefined) return
  await Promise.all([createAll(levels, mandatoryLevels), createAll(schemas, mandatoryFlowSchemas)])
  const { signal } = new AbortController()
  await Promise.all([...mandatoryFlowSchemas.keys()].map((name) => step({ schemas, levels }, name, signal)))
  opened.defer(keepConditions({ schemas, levels }, metrics, log))
}

async function createAll(resource: Resource, specs: ReadonlyMap<string, Json>): Promise<void> {
  await Promise.all([...specs].map(([name, spec]) => createMissing(resource, { namespace: '', name }, { spec })))
}

/** Gives what ends it. */
function keepConditions(kinds: FlowKinds, metrics: WorkQueueMetrics, log: Log): () => Promise<void> {
  const { schemas, levels } = kinds
  const queue = new WorkQueue({
    work: (name, signal) => step(kinds, name, signal),
    onError: (name, error) =>
      log.error('the status of a FlowSchema could not be written; it is tried again', { name, ...errorFields(error) }),
    meter: (state) => metrics.open('flow-schemas', state),
  })
  const addAll = () => {
    for (const { name } of schemas.cache.all()) queue.add(name)
  }
  const unfollow = [
    schemas.cache.onChange((key) => (key === undefined ? addAll() : queue.add(key.slice(schemas.cache.prefix.length)))),
    // Which schemas name a level is written in each of them; there are few, and levels seldom come and go.
    levels.cache.onChange(addAll),
  ]
  addAll()
  const ending = new AbortController()
  const running = queue.run(ending.signal)
  return async () => {
    for (const end of unfollow) end()
    ending.abort()
    await running
  }
}

async function step(kinds: FlowKinds, name: string, signal: AbortSignal): Promise<StepOutcome> {
  const { schemas } = kinds
  const cached = schemas.cache.get(keyOf(schemas, '', name))
  if (cached === undefined) return 'done'
  const found = readObject(cached.json)
  if (withCondition(kinds, found) === found) return 'done'
  const context = ownWrite(schemas, { subresource: 'status', optionsKind: 'UpdateOptions', signal })
  await ifThere(updateObject(context, name, (previous) => ({ object: withCondition(kinds, previous), managed: false })))
  return 'done'
}

/** The schema with the condition as it should be; the very same one where it is. */
function withCondition({ schemas, levels }: FlowKinds, object: ApiObject): ApiObject {
  const { spec, status: { conditions = [] } = {} } = object as FlowSchema
  const level = spec?.priorityLevelConfiguration?.name ?? ''
  const isThere = levels.cache.get(keyOf(levels, '', level)) !== undefined
  const [status, reason] = isThere ? ['False', 'Found'] : ['True', 'NotFound']
  const before = conditions.find(({ type }) => type === 'Dangling')
  if (before?.status === status && before.reason === reason) return object
  const since = before?.status === status ? before.lastTransitionTime : undefined
  const message = `its priority level is ${JSON.stringify(level)}, which ${isThere ? 'exists' : 'does not exist'}`
  const lastTransitionTime = since ?? timestamp(schemas.clock.now())
  const others = conditions.filter((each) => each !== before)
  const dangling = { type: 'Dangling', status, lastTransitionTime, reason, message }
  return { ...object, status: { conditions: [...others, dangling] as unknown as Json } }
}
