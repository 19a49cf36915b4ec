/** PATCH with an apply configuration, in YAML or JSON. */
import { badRequest } from '../../model/api-error.ts'
import { type FieldError, required } from '../../model/field-error.ts'
import { apply } from '../../registry/apply.ts'
import { readBody } from '../body.ts'
import { readYaml } from '../content.ts'
import { assertAppliedKind, duplicateFields, readApplied, reportFields } from '../object-body.ts'
import { isTrue } from '../request-info.ts'
import { type Handler, writeContext } from '../resource-request.ts'
import { sendBytes } from '../responses.ts'
import { assertSameObject, withOwnVersion } from './update.ts'

export const applyType = 'application/apply-patch+yaml'

export const handleApply: Handler = async (request) => {
  const { exchange, info, resource } = request
  const context = writeContext(request, 'PatchOptions', requireManager(info.query))
  const body = await readBody(exchange)
  exchange.pace.begin()
  const { value: config, duplicates } = await readYaml(exchange, body)
  assertAppliedKind(resource, config)
  reportFields(exchange, duplicateFields(duplicates), badRequest)
  const applied = await apply(context, {
    name: info.name,
    config,
    force: isTrue(info.query, 'force'),
    complete: async (merged, previous) => {
      const object = await readApplied(exchange, resource, merged)
      assertSameObject(object, info.namespace, info.name)
      return previous === undefined ? object : withOwnVersion(object, previous)
    },
  })
  await sendBytes(exchange, applied.created ? 201 : 200, applied.json)
}

function requireManager(query: URLSearchParams): FieldError[] {
  return query.get('fieldManager') ? [] : [required('fieldManager', 'is required for apply patch')]
}
