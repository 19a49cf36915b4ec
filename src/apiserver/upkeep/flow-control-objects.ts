/**
 * The built-in priority levels and FlowSchemas. The server creates missing ones at startup and once a minute. It also
 * restores the spec of a suggested object while its annotation `autoupdate-spec` is `true`; users set that annotation
 * to `false` to change the object. The specs of mandatory objects are immutable, so the server resets their annotation
 * to `true`.
 */

import type { Json } from '../../api/json/json.ts'
import { flowSchema } from '../../api/kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../../api/kinds/flowcontrol/types/mandatory.ts'
import { suggestedFlowSchemas, suggestedLevels } from '../../api/kinds/flowcontrol/types/suggested.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { vendorKey } from '../../api/model/vendor.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { changeFields, contextOf, createIn, getCached, ignoreNotFound } from './own-objects.ts'

interface RequiredObjects {
  readonly resource: Resource
  readonly mandatory: ReadonlyMap<string, Json>
  readonly suggested: ReadonlyMap<string, Json>
}

const periodMs = 60_000

/** Keeps the built-in flow-control objects. Returns undefined if the server does not serve these types. */
export function flowControlObjectsLoop(catalogue: Catalogue): Loop | undefined {
  const levels = catalogue.stored(priorityLevelConfiguration.group, priorityLevelConfiguration.plural)
  const schemas = catalogue.stored(flowSchema.group, flowSchema.plural)
  if (levels === undefined || schemas === undefined) return undefined
  const requiredObjects: readonly RequiredObjects[] = [
    { resource: levels, mandatory: mandatoryLevels, suggested: suggestedLevels },
    { resource: schemas, mandatory: mandatoryFlowSchemas, suggested: suggestedFlowSchemas(catalogue.vendor) },
  ]
  return {
    name: 'flow-control-objects',
    sources: [every(periodMs, 'all')],
    reconcile: async () => {
      await Promise.all(
        requiredObjects.flatMap(({ resource, mandatory, suggested }) => [
          ...[...mandatory].map(([name, spec]) => keepMandatory(resource, name, spec)),
          ...[...suggested].map(([name, spec]) => keepSuggested(resource, name, spec)),
        ]),
      )
      return 'done'
    },
  }
}

const annotationOf = ({ vendor }: Resource) => vendorKey(vendor, 'autoupdate-spec', 'apf')

async function keepMandatory(resource: Resource, name: string, spec: Json): Promise<void> {
  const key = annotationOf(resource)
  const existing = getCached(resource, { namespace: '', name })
  if (existing === undefined) return await createWith(resource, name, spec)
  if (existing.metadata.annotations?.[key] === 'true' || existing.metadata.deletionTimestamp !== undefined) return
  const annotated = (object: ApiObject): ApiObject => {
    const annotations = { ...object.metadata.annotations, [key]: 'true' }
    return { ...object, metadata: { ...object.metadata, annotations } }
  }
  const context = { ...contextOf(resource, '', 'UpdateOptions'), fieldManager: managerIn(resource) }
  await ignoreNotFound(updateObject(context, name, (previous) => ({ object: annotated(previous), managed: false })))
}

async function keepSuggested(resource: Resource, name: string, spec: Json): Promise<void> {
  const existing = getCached(resource, { namespace: '', name })
  if (existing === undefined) return await createWith(resource, name, spec)
  if (existing.metadata.annotations?.[annotationOf(resource)] === 'true')
    await ignoreNotFound(changeFields(resource, { namespace: '', name }, { spec }))
}

async function createWith(resource: Resource, name: string, spec: Json): Promise<void> {
  const context = { ...contextOf(resource, '', 'CreateOptions'), fieldManager: managerIn(resource) }
  await createIn(context, name, { metadata: { annotations: { [annotationOf(resource)]: 'true' } }, spec })
}

const managerIn = ({ vendor }: Resource) => vendor.managers.mandatoryObjects
