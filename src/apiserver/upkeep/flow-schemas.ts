/**
 * Maintains the condition `Dangling` of every FlowSchema. The condition is True if the priority level of the FlowSchema
 * does not exist. Every server runs this loop, and writes only if the condition differs.
 */
import { type FlowSchema, flowSchema } from '../../api/kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas } from '../../api/kinds/flowcontrol/types/mandatory.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromCache } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { keyOf, type Resource } from '../registry/catalogue/resource.ts'
import { withCondition, writeStatus } from './status-conditions.ts'

/** Creates the loop that maintains the condition. Returns undefined if the server does not serve FlowSchemas. */
export function flowSchemaLoop(catalogue: Catalogue): Loop | undefined {
  const schemas = catalogue.stored(flowSchema.group, flowSchema.plural)
  const levels = catalogue.stored(priorityLevelConfiguration.group, priorityLevelConfiguration.plural)
  if (schemas === undefined || levels === undefined) return undefined
  // If any priority level changes, which is rare, recheck all FlowSchemas.
  const allSchemas = () => schemas.cache.all().map(({ name }) => name)
  return {
    name: 'flow-schemas',
    sources: [
      fromCache(schemas.cache, { expected: () => mandatoryFlowSchemas.keys() }),
      fromCache(levels.cache, { keysOf: allSchemas }),
    ],
    reconcile: async (name, signal) => {
      const next = (object: ApiObject) =>
        withCondition(object, dangling(object as FlowSchema, levels), timestamp(schemas.clock.now()))
      await writeStatus(schemas, { name, signal, manager: schemas.vendor.managers.flowControl, next })
      return 'done'
    },
  }
}

function dangling({ spec }: FlowSchema, levels: Resource) {
  const level = spec?.priorityLevelConfiguration?.name ?? ''
  const exists = levels.cache.get(keyOf(levels, '', level)) !== undefined
  return {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: `its priority level is ${JSON.stringify(level)}, which ${exists ? 'exists' : 'does not exist'}`,
  } as const
}
