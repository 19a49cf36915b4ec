/**
 * What flow control is built on exists (`kinds/flowcontrol/types/mandatory.ts`), and every FlowSchema says in its status
 * whether the priority level that it names does: the condition `Dangling` is True where there is none. Every server
 * keeps that up from what it hears; those that find it said already write nothing.
 */
import type { WorkQueueMetrics } from '../controllers/work-queue-metrics.ts'
import { type FlowSchema, flowSchema } from '../kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../kinds/flowcontrol/types/mandatory.ts'
import type { Json } from '../model/json.ts'
import { type ApiObject, timestamp } from '../model/object.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { keyOf, type Resource } from '../registry/resource.ts'
import type { Log } from '../telemetry/log.ts'
import { KeptObjects, withCondition, writeStatus } from './kept-objects.ts'
import { createMissing } from './own-writes.ts'

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
  await Promise.all([...mandatoryFlowSchemas.keys()].map((name) => look({ schemas, levels }, name, signal)))
  opened.defer(keepConditions({ schemas, levels }, metrics, log))
}

async function createAll(resource: Resource, specs: ReadonlyMap<string, Json>): Promise<void> {
  await Promise.all([...specs].map(([name, spec]) => createMissing(resource, { namespace: '', name }, { spec })))
}

/** Which schemas name a level is written in each of them; there are few, and levels seldom come and go. */
function keepConditions(kinds: FlowKinds, metrics: WorkQueueMetrics, log: Log): () => Promise<void> {
  const kept = new KeptObjects({
    resource: kinds.schemas,
    queue: 'flow-schemas',
    look: (name, signal) => look(kinds, name, signal),
    complaint: 'the status of a FlowSchema could not be written; it is tried again',
    metrics,
    log,
  })
  const unfollow = kinds.levels.cache.onChange(() => kept.addAll())
  kept.start()
  return async () => {
    unfollow()
    await kept.stop()
  }
}

async function look({ schemas, levels }: FlowKinds, name: string, signal: AbortSignal): Promise<void> {
  const next = (object: ApiObject) =>
    withCondition(object, dangling(object as FlowSchema, levels), timestamp(schemas.clock.now()))
  await writeStatus(schemas, { name, signal, next })
}

function dangling({ spec }: FlowSchema, levels: Resource) {
  const level = spec?.priorityLevelConfiguration?.name ?? ''
  const isThere = levels.cache.get(keyOf(levels, '', level)) !== undefined
  return {
    type: 'Dangling',
    status: isThere ? 'False' : 'True',
    reason: isThere ? 'Found' : 'NotFound',
    message: `its priority level is ${JSON.stringify(level)}, which ${isThere ? 'exists' : 'does not exist'}`,
  } as const
}
