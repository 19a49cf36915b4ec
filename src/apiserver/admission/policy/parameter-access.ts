/**
 * Requires the author of a policy to have read access to its parameters, because the policy's messages can reveal them.
 * The author of a policy needs access to all objects of its paramKind. The author of a binding needs access to the
 * objects of its paramRef.
 */

import { sameJson } from '../../../api/json/json.ts'
import type { ParamKind, ParamRef } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import { invalidObject } from '../../../api/model/api-error.ts'
import { forbidden } from '../../../api/model/field-error.ts'
import type { Lookup, StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { mutatingFamily, validatingFamily } from './families.ts'
import type { FindParameterType } from './parameters.ts'
import type { BindingSpec } from './policies.ts'

export interface ParameterAccessParts {
  readonly lookup: Lookup
  readonly authorizer: Authorizer
  readonly findParameterType: FindParameterType
}

/** Returns an admission plugin that always runs. No flag can disable it. */
export function refuseUnreadableParameters(parts: ParameterAccessParts): Control {
  return {
    name: 'PolicyParameterAccess',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: families.flatMap(({ policies, bindings }) => [typeOf(policies), typeOf(bindings)]),
      subresources: [''],
    },
    validate: (request) =>
      families.some(({ policies }) => policies.plural === request.type.plural)
        ? assertKindReadable(parts, request)
        : assertParametersReadable(parts, request),
  }
}

interface Policy {
  spec?: { paramKind?: ParamKind }
}

interface Binding {
  spec?: BindingSpec
}

const families = [validatingFamily, mutatingFamily]
const typeOf = ({ group, plural }: StoredType<unknown>): StoredType => ({ group, plural })

const kindOf = (object: ApiObject | undefined) => (object as Policy | undefined)?.spec?.paramKind

async function assertKindReadable(parts: ParameterAccessParts, request: AdmissionRequest): Promise<void> {
  const kind = kindOf(request.object)
  if (kind === undefined || isSame(kind, kindOf(request.oldObject))) return
  if (await mayRead(parts, request, { kind, namespace: '*', name: '*' })) return
  const { kind: shown = '', apiVersion = '' } = kind
  const why = `user ${request.user.name} must have "get" permission on all objects of the referenced paramKind (kind=${shown}, apiVersion=${apiVersion})`
  throw invalidObject(request.type, request.name, [forbidden('spec.paramKind', why)])
}

async function assertParametersReadable(parts: ParameterAccessParts, request: AdmissionRequest): Promise<void> {
  const { spec = {} } = request.object as Binding
  const old = (request.oldObject as Binding | undefined)?.spec
  const { paramRef, policyName: name = '' } = spec
  if (paramRef === undefined || (isSame(paramRef, old?.paramRef) && old?.policyName === name)) return
  const family = families.find(({ bindings }) => bindings.plural === request.type.plural)!
  const policy = parts.lookup.getCached(typeOf(family.policies), { namespace: '', name })
  const place = { namespace: paramRef.namespace || '*', name: paramRef.name || '*' }
  if (await mayRead(parts, request, { kind: kindOf(policy?.object), ...place })) return
  const why = `user ${request.user.name} does not have "get" permission on the object referenced by paramRef`
  throw invalidObject(request.type, request.name, [forbidden('spec.paramRef', why)])
}

function isSame(a: ParamKind | ParamRef, b: ParamKind | ParamRef | undefined): boolean {
  return b !== undefined && sameJson(a, b)
}

interface Read {
  readonly kind: ParamKind | undefined
  readonly namespace: string
  readonly name: string
}

/**
 * Whether the user may read the parameters of a policy or binding. If their kind is not served, the user needs
 * permission to read everything.
 */
async function mayRead(
  { authorizer, findParameterType }: ParameterAccessParts,
  { user }: AdmissionRequest,
  { kind, namespace, name }: Read,
): Promise<boolean> {
  const type = kind && findParameterType(kind.apiVersion ?? '', kind.kind ?? '')
  const { group, plural } = type === undefined ? { group: '*', plural: '*' } : { ...type.stored, group: type.group }
  const place = { namespace: type?.namespaced === false ? '' : namespace, name }
  const attributes = { resource: true, verb: 'get', group, version: '*', plural, subresource: '', ...place } as const
  return (await authorizer({ user, attributes })).verdict === 'allow'
}
