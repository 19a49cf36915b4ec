/** Collects the request data that the expressions of policies and match conditions can read. */
import type { JsonObject } from '../../../api/json/json.ts'
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { headOf } from '../webhook/review.ts'
import { askerFor, type Evaluated } from './evaluation.ts'

export interface DataParts {
  readonly lookup: Lookup
  readonly authorizer: Authorizer
}

/** Returns the data of the request without parameters. The object is in the version of `form`. */
export async function requestData(
  request: AdmissionRequest,
  form: ObjectForm,
  { lookup, authorizer }: DataParts,
): Promise<Evaluated> {
  const { group, plural } = request.type
  const { subresource, namespace, name } = request
  return {
    object: await shown(form, request.object),
    oldObject: await shown(form, request.oldObject),
    request: requestJson(request, form),
    namespaceObject: namespaceJson(request, lookup),
    params: null,
    ask: askerFor(request.user, authorizer),
    resource: { group, resource: plural, subresource, namespace, name },
  }
}

/** Returns a copy of the data with a different object. */
export async function withObject(data: Evaluated, form: ObjectForm, object: ApiObject | undefined): Promise<Evaluated> {
  return { ...data, object: await shown(form, object) }
}

async function shown(form: ObjectForm, object: ApiObject | undefined): Promise<JsonObject | null> {
  return object === undefined ? null : asJson(await new TimeSlice().run(form.show(object)))
}

/** Returns the variable `request` of expressions. Unlike webhooks, policies can read a generated name. */
function requestJson(request: AdmissionRequest, form: ObjectForm): JsonObject {
  const { uid: _, ...head } = headOf(request, form, '')
  return request.drawnFrom === undefined ? head : { ...head, name: request.name }
}

/** A Namespace is cluster-scoped, so it has no namespace. */
function namespaceJson({ namespace: name, type }: AdmissionRequest, lookup: Lookup): JsonObject | null {
  if (name === '' || (type.group === '' && type.plural === 'namespaces')) return null
  const storedNamespace = lookup.getCached(namespaces, { namespace: '', name })
  if (storedNamespace === undefined) return null
  const { uid, ...metadata } = storedNamespace.object.metadata as unknown as JsonObject
  const { spec = {}, status = {} } = asJson(storedNamespace.object)
  return { metadata: { ...metadata, UID: uid }, spec, status }
}
