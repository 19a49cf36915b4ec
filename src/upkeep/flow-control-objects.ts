/**
 * The priority levels and FlowSchemas that a server has by itself: created where they are missing, also after somebody has
 * deleted them, and given back their spec for as long as their annotation `autoupdate-spec` is `true`. Whoever wants to
 * change a suggested one sets that annotation to `false`.
 */
import { flowSchema } from '../kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../kinds/flowcontrol/types/mandatory.ts'
import { suggestedFlowSchemas, suggestedLevels } from '../kinds/flowcontrol/types/suggested.ts'
import type { Json } from '../model/json.ts'
import { vendorKey } from '../model/vendor.ts'
import type { Loop } from '../reconcile/loop.ts'
import { fromCache } from '../reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { Resource } from '../registry/resource.ts'
import { changeFields, createMissing, getCached, ignoreNotFound } from './own-objects.ts'

interface Wanted {
  readonly resource: Resource
  readonly specs: ReadonlyMap<string, Json>
}

/** Keeps the objects that flow control begins with. No loop for a server without these kinds. */
export function flowControlObjectsLoop(catalogue: Catalogue): Loop | undefined {
  const levels = catalogue.stored(priorityLevelConfiguration.group, priorityLevelConfiguration.plural)
  const schemas = catalogue.stored(flowSchema.group, flowSchema.plural)
  if (levels === undefined || schemas === undefined) return undefined
  const wanted: readonly Wanted[] = [
    { resource: levels, specs: new Map([...mandatoryLevels, ...suggestedLevels]) },
    { resource: schemas, specs: new Map([...mandatoryFlowSchemas, ...suggestedFlowSchemas(catalogue.vendor)]) },
  ]
  const all = { keysOf: () => ['all'], expected: () => ['all'] }
  return {
    name: 'flow-control-objects',
    sources: wanted.map(({ resource }) => fromCache(resource.cache, all)),
    reconcile: async () => {
      await Promise.all(
        wanted.flatMap(({ resource, specs }) => [...specs].map(([name, spec]) => ensure(resource, name, spec))),
      )
      return 'done'
    },
  }
}

async function ensure(resource: Resource, name: string, spec: Json): Promise<void> {
  const key = vendorKey(resource.vendor, 'autoupdate-spec', 'apf')
  const found = getCached(resource, { namespace: '', name })
  if (found === undefined)
    return await createMissing(
      resource,
      { namespace: '', name },
      { metadata: { annotations: { [key]: 'true' } }, spec },
    )
  if (found.metadata.annotations?.[key] === 'true')
    await ignoreNotFound(changeFields(resource, { namespace: '', name }, { spec }))
}
