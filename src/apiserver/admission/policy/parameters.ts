/** Finds the parameter objects of a binding. */
import type { ParamKind, ParamRef } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { Lookup, StoredObject, StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { LabelMatcher, requirementsOf } from '../../../api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../admission.ts'

/** A kind that policies can use for parameters. */
export interface ParameterType {
  readonly stored: StoredType
  /** Name of the API group. */
  readonly group: string
  readonly namespaced: boolean
}

/** Finds the resource type of a parameter kind. Returns undefined if the kind is not served or not stored. */
export type FindParameterType = (apiVersion: string, kind: string) => ParameterType | undefined

/**
 * The parameter objects for which the policy is evaluated, one at a time, or the reason why there are none. A policy
 * without parameters is evaluated once, with undefined.
 */
export type Parameters =
  | { readonly outcome: 'parameters'; readonly objects: readonly (ApiObject | undefined)[] }
  | { readonly outcome: 'misconfigured'; readonly why: string }

export interface ParameterQuery {
  readonly kind: ParamKind | undefined
  readonly ref: ParamRef | undefined
  readonly request: AdmissionRequest
}

const withoutParameters: Parameters = { outcome: 'parameters', objects: [undefined] }

function misconfigured(why: string): Parameters {
  return { outcome: 'misconfigured', why }
}

/**
 * Finds the parameter objects of a binding, and makes the write depend on their revisions. Returns a promise only if
 * the policy has parameters.
 */
export function parametersOf(
  { kind, ...query }: ParameterQuery,
  lookup: Lookup,
  find: FindParameterType,
): Parameters | Promise<Parameters> {
  return kind === undefined ? withoutParameters : findParameters({ kind, ...query }, lookup, find)
}

async function findParameters(
  { kind, ref, request }: ParameterQuery & { readonly kind: ParamKind },
  lookup: Lookup,
  find: FindParameterType,
): Promise<Parameters> {
  const { apiVersion = '', kind: name = '' } = kind
  const type = find(apiVersion, name)
  if (type === undefined)
    return misconfigured(
      `failed to configure policy: failed to find resource referenced by paramKind: '${apiVersion}, Kind=${name}'`,
    )
  if (ref === undefined) return withoutParameters
  const failed = (why: string) => misconfigured(`failed to configure binding: ${why}`)
  if (!type.namespaced && ref.namespace)
    return failed('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  const place = type.namespaced ? ref.namespace || request.namespace : ''
  if (type.namespaced && place === '')
    return failed('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  const storedParameters = await search(lookup, { type: type.stored, namespace: place, ref })
  for (const stored of storedParameters) if (!isWritten(stored.object, type, request)) request.dependOn?.(stored)
  if (storedParameters.length > 0)
    return { outcome: 'parameters', objects: storedParameters.map(({ object }) => object) }
  return ref.parameterNotFoundAction === 'Allow'
    ? { outcome: 'parameters', objects: [] }
    : failed('no params found for policy binding with `Deny` parameterNotFoundAction')
}

/** Whether the request writes this parameter object. If so, the commit already depends on the object's revision. */
function isWritten(
  { metadata }: ApiObject,
  { stored, group }: ParameterType,
  { type, name, namespace }: AdmissionRequest,
) {
  return (
    type.plural === stored.plural &&
    type.group === group &&
    metadata.name === name &&
    (metadata.namespace ?? '') === namespace
  )
}

interface Search {
  readonly type: StoredType
  readonly namespace: string
  readonly ref: ParamRef
}

/**
 * Looks up an object. If the cache does not contain the object, reads the store, because the object may have just been
 * created.
 */
async function search(
  lookup: Lookup,
  { type, namespace, ref: { name = '', selector } }: Search,
): Promise<StoredObject[]> {
  if (selector === undefined) {
    const storedParameter =
      lookup.getCached(type, { namespace, name }) ?? (await lookup.getLatest(type, { namespace, name }))
    return storedParameter === undefined ? [] : [storedParameter]
  }
  await lookup.waitUntilCurrent()
  const matcher = new LabelMatcher(requirementsOf(selector))
  const matches = (labels: { readonly [key: string]: string }) => matcher.matches(labels)
  return await Array.fromAsync(
    lookup.each(type, { namespace: namespace === '' ? undefined : namespace, whole: true, matches }),
  )
}
