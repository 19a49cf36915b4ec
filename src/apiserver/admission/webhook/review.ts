/**
 * Writes AdmissionReview requests. The object is serialized once for all webhooks that receive the same version. Only
 * the small envelope is written for each call.
 */

import { stringifyJson } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { type ApiObject, asJson, copyWithout } from '../../../api/model/object.ts'
import type { User } from '../../../api/model/user.ts'
import { apiVersionOf } from '../../../api/model/vendor.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { namespaceOf } from './select-webhooks.ts'
import type { ReviewVersion } from './webhook.ts'

/** The new and the old object, serialized as JSON. */
interface Written {
  readonly object: string
  readonly oldObject: string
}

/** The AdmissionReviews of one request, which are valid until the object of the request changes. */
export class Reviews {
  readonly #request: AdmissionRequest
  readonly #written = new Map<ObjectForm, Promise<Written>>()

  constructor(request: AdmissionRequest) {
    this.#request = request
  }

  /** Returns the body of an AdmissionReview request. */
  async write(form: ObjectForm, version: ReviewVersion, uid: string): Promise<string> {
    const { vendor } = this.#request
    const { object, oldObject } = await this.#objects(form)
    const apiVersion = apiVersionOf(vendor, 'admission', version)
    const head = stringifyJson(headOf(this.#request, form, uid))
    const request = `${head.slice(0, -1)},"object":${object},"oldObject":${oldObject}}`
    return `{"kind":"AdmissionReview","apiVersion":${JSON.stringify(apiVersion)},"request":${request}}`
  }

  #objects(form: ObjectForm): Promise<Written> {
    const objectTexts = this.#written.get(form) ?? new TimeSlice().run(this.#write(form))
    this.#written.set(form, objectTexts)
    return objectTexts
  }

  *#write(form: ObjectForm): Sliced<Written> {
    const { object, oldObject } = this.#request
    return {
      object: object === undefined ? 'null' : stringifyJson(asJson(yield* shownObject(this.#request, form, object))),
      oldObject: oldObject === undefined ? 'null' : stringifyJson(asJson(yield* form.show(oldObject))),
    }
  }
}

/**
 * Returns the object as sent to webhooks. A generated name is omitted because a retry may change it. An unconditional
 * update carries the current resourceVersion.
 */
export function* shownObject(request: AdmissionRequest, form: ObjectForm, object: ApiObject): Sliced<ApiObject> {
  const { drawnFrom, oldObject } = request
  const shown = yield* form.show(object)
  if (drawnFrom !== undefined) return { ...shown, metadata: copyWithout(shown.metadata, 'name') }
  const version = oldObject?.metadata.resourceVersion
  if (version === undefined || shown.metadata.resourceVersion) return shown
  return { ...shown, metadata: { ...shown.metadata, resourceVersion: version } }
}

/** Returns the `request` of an AdmissionReview without the objects. */
export function headOf(request: AdmissionRequest, { kind, resource }: ObjectForm, uid: string): JsonObject {
  const { operation, subresource, forms, user, dryRun } = request
  const name = request.drawnFrom === undefined && !request.ofCollection ? request.name : ''
  const namespace = namespaceOf(request)
  return {
    uid,
    kind: { ...kind },
    resource: { ...resource },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { ...forms.requested.kind },
    requestResource: { ...forms.requested.resource },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfoOf(user),
    dryRun,
    options: optionsOf(request),
  }
}

function userInfoOf({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }),
  }
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: '' } as const

/**
 * Returns the request options with the kind that matches the operation. For a patch, the kind is CreateOptions or
 * UpdateOptions, because a patch creates or updates an object.
 */
function optionsOf({ operation, options, vendor }: AdmissionRequest): JsonObject | null {
  if (options === undefined) return null
  return { kind: optionKinds[operation], apiVersion: apiVersionOf(vendor, 'meta', 'v1'), ...options() }
}
