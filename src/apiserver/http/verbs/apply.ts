/** Handles PATCH with an apply configuration in YAML or JSON. */

import { isObject, type Json, own } from '../../../api/json/json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import { type FieldError, required } from '../../../api/model/field-error.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { jsonSliced } from '../../registry/reads/conversion.ts'
import { apply } from '../../registry/verbs/apply.ts'
import { readOnlyFields } from '../../registry/writes/write.ts'
import { readBody } from '../request/body.ts'
import { readYaml, recordForAudit } from '../request/content.ts'
import {
  assertAppliedFits,
  assertAppliedKind,
  duplicateFields,
  readApplied,
  reportFields,
} from '../request/object-body.ts'
import { isTrue } from '../request/request-info.ts'
import { type Handler, type ResourceRequest, writeContext } from '../request/resource-request.ts'
import { sendBytes } from '../response/responses.ts'
import { assertSameObject, withOwnVersion } from './update.ts'

export const applyType = 'application/apply-patch+yaml'

export const handleApply: Handler = async (request) => {
  const { exchange, info, resource } = request
  const context = { ...writeContext(request, 'PatchOptions', requireManager(info.query)), verb: 'apply' }
  const body = await readBody(exchange)
  exchange.timeSlice.begin()
  const { value: config, duplicates } = recordForAudit(exchange, await readYaml(exchange, body), body)
  assertAppliedKind(resource, config)
  reportFields(exchange, duplicateFields(duplicates), badRequest)
  assertAppliedFits(resource, config, readOnlyFields(context))
  const target = targetOf(request, config)
  const applied = await apply(target.resource === resource ? context : { ...context, through: undefined }, {
    name: info.name,
    config: target.config,
    force: isTrue(info.query, 'force'),
    complete: async (merged, previous) => {
      const object = await readApplied(exchange, target.resource, merged)
      assertSameObject(object, info.namespace, info.name)
      return previous === undefined ? object : withOwnVersion(object, previous)
    },
  })
  const json = target.resource === resource ? applied.json : await exchange.timeSlice.run(jsonSliced(resource, applied))
  await sendBytes(exchange, applied.created ? 201 : 200, json)
}

interface Target {
  readonly resource: Resource
  readonly config: Json
}

/**
 * Returns the resource and configuration to apply. An apply to a view such as Scale becomes an apply to the underlying
 * object, with a configuration that sets only the view's fields.
 */
function targetOf({ info, resource }: ResourceRequest, config: Json): Target {
  const { stored } = resource
  const configOf = stored?.kind.views.subresources?.[info.subresource]?.as?.configOf
  if (stored === undefined || configOf === undefined || !isObject(config)) return { resource, config }
  if (own(config, 'apiVersion') !== resource.apiVersion)
    throw badRequest(`apiVersion does not match the path, which serves ${resource.kind.kind} in ${resource.apiVersion}`)
  return { resource: stored, config: { apiVersion: stored.apiVersion, kind: stored.kind.kind, ...configOf(config) } }
}

function requireManager(query: URLSearchParams): FieldError[] {
  return query.get('fieldManager') ? [] : [required('fieldManager', 'is required for apply patch')]
}
