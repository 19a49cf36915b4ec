/**
 * Provides the CEL variables that depend only on the request, such as `object` and `authorizer`. Policies and match
 * conditions use them.
 */
import { authorizerValue, resourceCheck } from '../../../api/cel/functions/authorization.ts'
import { dynamicValue, fromJson } from '../../../api/cel/json-values.ts'
import { declared, type VariableName } from '../../../api/cel/policy-environment.ts'
import type { Value } from '../../../api/cel/values.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { headOf } from '../webhook/review.ts'
import { askerFor } from './ask-authorizer.ts'

export interface DataParts {
  readonly lookup: Lookup
  readonly authorizer: Authorizer
}

/** Functions that return the variables of a request. Each value is computed on first use and shared by all policies. */
export type RequestData = { readonly [name in Exclude<VariableName, 'params' | 'variables'>]: () => Value }

/** Returns the data of the request. The object is in the version of `form`. */
export async function requestData(
  request: AdmissionRequest,
  form: ObjectForm,
  { lookup, authorizer }: DataParts,
): Promise<RequestData> {
  const { group, plural: resource } = request.type
  const { user, subresource, namespace, name } = request
  const ask = askerFor(user, authorizer)
  return {
    object: await shown(form, request.object),
    oldObject: await shown(form, request.oldObject),
    request: once(() => fromJson(requestJson(request, form), declared.request)),
    namespaceObject: once(() => fromJson(namespaceJson(request, lookup), declared.namespaceObject)),
    authorizer: once(() => authorizerValue(ask)),
    'authorizer.requestResource': once(() => resourceCheck(ask, { group, resource, subresource, namespace, name })),
  }
}

/** Returns the data of the same request with another object, after a mutation. */
export async function withObject(
  data: RequestData,
  form: ObjectForm,
  object: ApiObject | undefined,
): Promise<RequestData> {
  return { ...data, object: await shown(form, object) }
}

async function shown(form: ObjectForm, object: ApiObject | undefined): Promise<() => Value> {
  if (object === undefined) return () => null
  const value = dynamicValue(asJson(await new TimeSlice().run(form.show(object))))
  return () => value
}

function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

/** Returns the variable `request` of expressions. Unlike webhooks, policies can read a generated name. */
function requestJson(request: AdmissionRequest, form: ObjectForm): JsonObject {
  const { uid: _, ...head } = headOf(request, form, '')
  return request.drawnFrom === undefined ? head : { ...head, name: request.name }
}

/** In expressions, `namespaceObject` is null for cluster-scoped objects, including Namespaces. */
function namespaceJson({ namespace: name, type }: AdmissionRequest, lookup: Lookup): JsonObject | null {
  if (name === '' || (type.group === '' && type.plural === 'namespaces')) return null
  const storedNamespace = lookup.getCached(namespaces, { namespace: '', name })
  if (storedNamespace === undefined) return null
  const { uid, ...metadata } = storedNamespace.object.metadata as unknown as JsonObject
  const { spec = {}, status = {} } = asJson(storedNamespace.object)
  return { metadata: { ...metadata, UID: uid }, spec, status }
}
