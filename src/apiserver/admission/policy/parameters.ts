/** Looks up the parameter objects of a binding. */
import type { ParamKind, ParamRef } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { Lookup, StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { LabelMatcher, requirementsOf } from '../../../api/selectors/label-selector.ts'

/** A served kind that can parameterize policies. */
export interface ParameterType {
  readonly stored: StoredType
  /** Name of the group in the API. */
  readonly group: string
  readonly namespaced: boolean
}

/** Returns the type of a kind; undefined if it is not served or not stored. */
export type FindParameterType = (apiVersion: string, kind: string) => ParameterType | undefined

/** The parameters of one evaluation each, or the reason why there are none. `[undefined]` is one without parameters. */
export type Parameters =
  | { readonly outcome: 'parameters'; readonly objects: readonly (ApiObject | undefined)[] }
  | { readonly outcome: 'misconfigured'; readonly why: string }

export interface ParameterQuery {
  readonly kind: ParamKind | undefined
  readonly ref: ParamRef | undefined
  /** Namespace of the request. */
  readonly namespace: string
}

const withoutParameters: Parameters = { outcome: 'parameters', objects: [undefined] }

function misconfigured(why: string): Parameters {
  return { outcome: 'misconfigured', why }
}

export function parametersOf(
  { kind, ref, namespace }: ParameterQuery,
  lookup: Lookup,
  find: FindParameterType,
): Parameters {
  if (kind === undefined) return withoutParameters
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
  const place = type.namespaced ? ref.namespace || namespace : ''
  if (type.namespaced && place === '')
    return failed('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  const objects = foundIn(lookup, { type: type.stored, namespace: place, ref })
  if (objects.length > 0) return { outcome: 'parameters', objects }
  return ref.parameterNotFoundAction === 'Allow'
    ? { outcome: 'parameters', objects: [] }
    : failed('no params found for policy binding with `Deny` parameterNotFoundAction')
}

interface Search {
  readonly type: StoredType
  readonly namespace: string
  readonly ref: ParamRef
}

function foundIn(lookup: Lookup, { type, namespace, ref: { name = '', selector } }: Search): ApiObject[] {
  if (selector === undefined) {
    const found = lookup.getCached(type, { namespace, name })
    return found === undefined ? [] : [found.object]
  }
  const matcher = new LabelMatcher(requirementsOf(selector))
  const all = lookup.list(type, { namespace: namespace === '' ? undefined : namespace, whole: true })
  return all.map(({ object }) => object).filter(({ metadata }) => matcher.matches(metadata.labels ?? {}))
}
