/** Handles PATCH of an object or of a subresource view. The content type selects one of the four patch formats. */
import { type ParsedJson, parseSliced } from '../../../api/codec/json.ts'
import type { Json } from '../../../api/json/json.ts'
import { jsonPatchSliced, parseJsonPatch, unknownMembers } from '../../../api/merge/json-patch.ts'
import { mergePatchSliced } from '../../../api/merge/merge-patch.ts'
import { parsePatchObject } from '../../../api/merge/patch-faults.ts'
import { applyStrategicMergePatch } from '../../../api/merge/strategic-merge-patch.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { type FieldError, forbidden } from '../../../api/model/field-error.ts'
import { asJson } from '../../../api/model/object.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { originOf } from '../../registry/catalogue/served.ts'
import { assertNamesVersion, updateObject } from '../../registry/verbs/update.ts'
import { namesVersion } from '../../registry/writes/metadata.ts'
import { readBody } from '../request/body.ts'
import { mediaType, recordForAudit } from '../request/content.ts'
import type { Exchange } from '../request/exchange.ts'
import { duplicateFields, readPatched } from '../request/object-body.ts'
import { type Handler, writeContext } from '../request/resource-request.ts'
import { sendBytes } from '../response/responses.ts'
import { applyType, handleApply } from './apply.ts'
import { assertSameObject, withOwnVersion } from './update.ts'

/** A parsed patch: the function that applies the patch, and the patch's unknown and duplicate fields. */
interface Patch {
  readonly apply: (document: Json) => Json | Generator<void, Json>
  readonly faults: readonly string[]
}

const strategic = 'application/strategic-merge-patch+json'

const forms: { readonly [type: string]: (resource: Resource, body: ParsedJson) => Patch } = {
  'application/json-patch+json': (_, { value, duplicates }) => {
    const operations = parseJsonPatch(value)
    return {
      apply: (document) => jsonPatchSliced(document, operations),
      faults: [...unknownMembers(value).map((name) => `unknown field "${name}"`), ...duplicateFields(duplicates)],
    }
  },
  'application/merge-patch+json': (_, { value, duplicates }) => {
    const patch = parsePatchObject(value)
    return { apply: (document) => mergePatchSliced(document, patch), faults: duplicateFields(duplicates) }
  },
  [strategic]: ({ kind }, { value, duplicates }) => {
    const patch = parsePatchObject(value)
    return {
      apply: (document) => applyStrategicMergePatch(kind.schema, document, patch),
      faults: duplicateFields(duplicates),
    }
  },
}

/** The media types of patches. */
export const patchTypes: readonly string[] = [...Object.keys(forms), applyType]

/** Throws 415 if the content type is not a supported patch format. */
export function assertPatchType(exchange: Exchange, resource: Resource): void {
  const { kind } = resource
  const types = patchTypes.filter((name) => name !== strategic || kind.lifecycle.strategicPatch !== false)
  if (types.includes(mediaType(exchange))) return
  const message = `415: Unsupported Media Type: the patch types are ${types.join(', ')}`
  throw new ApiError(415, 'UnsupportedMediaType', message, originOf(resource) === 'built-in' ? {} : undefined)
}

/** `assertPatchType` has rejected all other types, so a type that is not in `forms` is an apply. */
export const handlePatch: Handler = async (request) => {
  const { exchange, info, resource } = request
  const form = forms[mediaType(exchange)]
  if (form === undefined) return await handleApply(request)
  const context = writeContext(request, 'PatchOptions', refuseForce(info.query))
  const body = await readBody(exchange)
  let patch: Patch | undefined
  const { timeSlice } = context
  const patched = await updateObject(context, info.name, async (previous) => {
    // Parse the patch only once the object is found, so that a missing object is reported before errors in the patch.
    patch ??= form(resource, recordForAudit(exchange, await timeSlice.run(parseSliced(body)), body))
    await timeSlice.yieldIfDue()
    const made = patch.apply(asJson(previous))
    const value = isSliced(made) ? await timeSlice.run(made) : made
    await timeSlice.yieldIfDue()
    const next = await readPatched(exchange, resource, value, patch.faults)
    assertSameObject(next, info.namespace, info.name)
    assertNamesVersion(context, next)
    const object = withOwnVersion(next, previous)
    return { object, managed: false, isExactVersion: namesVersion(object) }
  })
  await sendBytes(exchange, 200, patched)
}

/** Whether a patch returned a generator instead of JSON. No JSON value has a member `next` that is a function. */
function isSliced(made: Json | Generator<void, Json>): made is Generator<void, Json> {
  return typeof made === 'object' && made !== null && 'next' in made && typeof made.next === 'function'
}

/** Rejects the parameter `force`. Only an apply can take over the ownership of fields. */
function refuseForce(query: URLSearchParams): FieldError[] {
  return query.has('force') ? [forbidden('force', 'may not be specified for non-apply patch')] : []
}
