/**
 * Maintains the built-in priority levels and FlowSchemas. The server creates missing objects at startup and once a
 * minute.
 *
 * A suggested object keeps its built-in spec while its annotation `autoupdate-spec` is `true`. To change such an
 * object, users set the annotation to `false`. The specs of mandatory objects cannot be changed, so the server resets
 * the specs and the annotation. An object whose annotation is `true` but that does not exist in the emulated version
 * comes from another version, so the server deletes it.
 */

import { type Json, type JsonObject, sameJson } from '../../api/json/json.ts'
import { flowSchema } from '../../api/kinds/flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../../api/kinds/flowcontrol/types/mandatory.ts'
import { suggestedFlowSchemas, suggestedLevels } from '../../api/kinds/flowcontrol/types/suggested.ts'
import { type ApiObject, asJson } from '../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { deleteObject } from '../registry/verbs/delete.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { changeFields, contextOf, createIn, getCached, ignoreNotFound } from './own-objects.ts'

interface RequiredObjects {
  readonly resource: Resource
  readonly mandatory: ReadonlyMap<string, Json>
  readonly suggested: ReadonlyMap<string, Json>
}

const periodMs = 60_000

/**
 * Returns a loop that maintains the built-in flow-control objects. Returns undefined if the server does not serve these
 * types.
 */
export function flowControlObjectsLoop(catalogue: Catalogue, version: EmulatedVersion): Loop | undefined {
  const levels = catalogue.stored(priorityLevelConfiguration.group, priorityLevelConfiguration.plural)
  const schemas = catalogue.stored(flowSchema.group, flowSchema.plural)
  if (levels === undefined || schemas === undefined) return undefined
  const requiredObjects: readonly RequiredObjects[] = [
    { resource: levels, mandatory: mandatoryLevels(version), suggested: suggestedLevels(version) },
    { resource: schemas, mandatory: mandatoryFlowSchemas, suggested: suggestedFlowSchemas(catalogue.vendor, version) },
  ]
  return {
    name: 'flow-control-objects',
    sources: [every(periodMs, 'all')],
    reconcile: async () => {
      await Promise.all(
        requiredObjects.flatMap((required) => [
          ...[...required.mandatory].map(([name, spec]) => keepMandatory(required.resource, name, spec)),
          ...[...required.suggested].map(([name, spec]) => keepSuggested(required.resource, name, spec)),
          deleteObsolete(required),
        ]),
      )
      return 'done'
    },
  }
}

/** Returns the key of the annotation that controls whether the server maintains an object's spec. */
export const autoUpdateKey = (vendor: Vendor) => vendorKey(vendor, 'autoupdate-spec', 'apf')

const annotationOf = ({ vendor }: Resource) => autoUpdateKey(vendor)

async function keepMandatory(resource: Resource, name: string, spec: Json): Promise<void> {
  const key = annotationOf(resource)
  const existing = getCached(resource, { namespace: '', name })
  if (existing === undefined) return await createWith(resource, name, spec)
  if (existing.metadata.deletionTimestamp !== undefined) return
  const restored = (object: ApiObject): ApiObject => {
    const annotations = { ...object.metadata.annotations, [key]: 'true' }
    return { ...object, metadata: { ...object.metadata, annotations }, spec: mandatorySpec(object, spec) }
  }
  if (sameJson(asJson(restored(existing)), asJson(existing))) return
  const context = { ...contextOf(resource, '', 'UpdateOptions'), fieldManager: managerIn(resource) }
  await ignoreNotFound(updateObject(context, name, (previous) => ({ object: restored(previous), managed: false })))
}

/**
 * Returns the spec that a mandatory object must have. The concurrency of the exempt level is kept, because users may
 * change it.
 */
function mandatorySpec(existing: ApiObject, spec: Json): Json {
  const { exempt } = (existing.spec ?? {}) as JsonObject
  const required = spec as JsonObject
  return exempt === undefined || required.exempt === undefined ? required : { ...required, exempt }
}

/** Deletes suggested objects that the emulated version does not have. */
async function deleteObsolete({ resource, mandatory, suggested }: RequiredObjects): Promise<void> {
  const key = annotationOf(resource)
  const obsolete = resource.cache
    .all()
    .map(({ name }) => name)
    .filter((name) => !mandatory.has(name) && !suggested.has(name))
    .filter((name) => getCached(resource, { namespace: '', name })?.metadata.annotations?.[key] === 'true')
  await Promise.all(
    obsolete.map((name) => ignoreNotFound(deleteObject(contextOf(resource, '', 'DeleteOptions'), name, atOnce))),
  )
}

const atOnce = { gracePeriodSeconds: undefined, propagation: undefined, preconditions: [] }

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
