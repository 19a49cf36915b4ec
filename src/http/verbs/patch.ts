/** PATCH of one object or of a subresource that is a view of it: the four forms, told apart by the content type. */
import { type ParsedJson, parseJson } from '../../codec/json.ts'
import { applyJsonPatch, parseJsonPatch, unknownMembers } from '../../merge/json-patch.ts'
import { applyMergePatch } from '../../merge/merge-patch.ts'
import { parsePatchObject } from '../../merge/patch-faults.ts'
import { applyStrategicMergePatch } from '../../merge/strategic-merge-patch.ts'
import { ApiError, invalidObject } from '../../model/api-error.ts'
import { forbidden } from '../../model/field-error.ts'
import type { Json } from '../../model/json.ts'
import { type ApiObject, asJson } from '../../model/object.ts'
import { groupName } from '../../model/vendor.ts'
import type { Resource } from '../../registry/resource.ts'
import { updateObject } from '../../registry/update.ts'
import { readBody } from '../body.ts'
import { mediaType } from '../content.ts'
import { duplicateFields, readPatched } from '../object-body.ts'
import { type Handler, type ResourceRequest, writeContext } from '../resource-request.ts'
import { sendObject } from '../responses.ts'
import { assertSameObject } from './update.ts'

/** A patch that has been read: what it makes of a document, and what it holds that nobody knows. */
interface Patch {
  readonly apply: (document: Json) => Json
  readonly faults: readonly string[]
}

const forms: { readonly [type: string]: (resource: Resource, body: ParsedJson) => Patch } = {
  'application/json-patch+json': (_, { value, duplicates }) => {
    const operations = parseJsonPatch(value)
    return {
      apply: (document) => applyJsonPatch(document, operations),
      faults: [...unknownMembers(value).map((name) => `unknown field "${name}"`), ...duplicateFields(duplicates)],
    }
  },
  'application/merge-patch+json': (_, { value, duplicates }) => {
    const patch = parsePatchObject(value)
    return { apply: (document) => applyMergePatch(document, patch), faults: duplicateFields(duplicates) }
  },
  'application/strategic-merge-patch+json': ({ kind }, { value, duplicates }) => {
    const patch = parsePatchObject(value)
    return {
      apply: (document) => applyStrategicMergePatch(kind.schema, document, patch),
      faults: duplicateFields(duplicates),
    }
  },
}

export const handlePatch: Handler = async (request) => {
  const { exchange, info, resource } = request
  const form = forms[mediaType(exchange)]
  if (form === undefined)
    throw new ApiError(
      415,
      'UnsupportedMediaType',
      `415: Unsupported Media Type: a patch is one of ${Object.keys(forms).join(', ')}`,
      {},
    )
  refuseForce(request)
  const context = writeContext(request, 'PatchOptions')
  const patch = form(resource, parseJson(await readBody(exchange)))
  const patched = await updateObject(context, info.name, (previous) => {
    const next = readPatched(exchange, resource, patch.apply(asJson(previous)), patch.faults)
    assertSameObject(next, info.namespace, info.name)
    return withOwnVersion(next, previous)
  })
  await sendObject(exchange, 200, patched)
}

/** Only apply can take fields from others by force. */
function refuseForce({ info, resource }: ResourceRequest): void {
  if (!info.query.has('force')) return
  const error = forbidden('force', 'may not be specified for non-apply patch')
  throw invalidObject({ group: groupName(resource.vendor, 'meta'), kind: 'PatchOptions' }, '', [error])
}

/** A version that the patch did not set is no precondition: the patch fits any state. */
function withOwnVersion(next: ApiObject, previous: ApiObject): ApiObject {
  const { resourceVersion, ...metadata } = next.metadata
  return resourceVersion === previous.metadata.resourceVersion ? { ...next, metadata } : next
}
