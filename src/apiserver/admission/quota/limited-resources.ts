/**
 * The resources that the ResourceQuota configuration limits by default. A pod or claim cannot use these resources
 * unless a quota in its namespace covers them. Without a configuration, no resources are limited by default.
 *
 *   limitedResources: [{ resource: pods, matchContains: [cpu], matchScopes: [{ scopeName: PriorityClass,... }] }]
 */
import { isObject, type Json, own } from '../../../api/json/json.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Amounts, WrittenAmounts } from '../../../api/model/quota/amounts.ts'
import { holds, type ScopeRequirement } from '../../../api/model/quota/scopes.ts'
import type { CountedType } from '../../../api/model/quota/usage.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, type Infer, s } from '../../../api/schema/schema.ts'

const requirement = s.object({
  scopeName: field(1, s.string(), { required: true, doc: 'Name of the quota scope.' }),
  operator: field(2, s.oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'), {
    required: true,
    doc: 'Operator that compares the scope with the values.',
  }),
  values: field(3, s.list(s.string()), { doc: 'Values for the operators In and NotIn.' }),
})

const limitedResource = s.object({
  apiGroup: field(1, s.string(), { doc: 'API group of the resource; empty for the core group.' }),
  resource: field(2, s.string(), { required: true, doc: 'Plural name of the resource, such as `pods`.' }),
  matchContains: field(3, s.list(s.string()), {
    doc: 'Substrings of quota resource names. Matching resources require a quota.',
  }),
  matchScopes: field(4, s.list(requirement), { doc: 'Scopes whose objects require a quota with the same scope.' }),
})

export type LimitedResource = Infer<typeof limitedResource>

const fields = {
  limitedResources: field(1, s.list(limitedResource), {
    doc: 'Resources that can be used only if a quota covers them.',
  }),
}

export function readLimitedResources(value: Json, vendor: Vendor): readonly LimitedResource[] {
  const older = isObject(value) && own(value, 'kind') === 'Configuration'
  const form = older
    ? { group: 'resourcequota.admission', versions: ['v1beta1', 'v1alpha1'], kind: 'Configuration' }
    : { group: 'apiserver.config', versions: ['v1'], kind: 'ResourceQuotaConfiguration' }
  return readConfiguration(value, { vendor, fields, ...form }).limitedResources ?? []
}

/** The resource usage of a request, and the quotas in its namespace that cover it. */
export interface Coverage {
  readonly type: CountedType
  readonly object: ApiObject
  /** Resource usage that the write adds. */
  readonly increase: Amounts
  /** Enforced limits of each quota that counts the object. */
  readonly hard: readonly WrittenAmounts[]
  /** Scopes of all quotas that apply to the object. */
  readonly scopes: readonly ScopeRequirement[]
}

/**
 * Returns the reason for rejecting a write that uses a resource that is limited by default and not covered by any
 * quota. Returns undefined if the write uses no such resource.
 */
export function uncovered(limited: readonly LimitedResource[], coverage: Coverage): string | undefined {
  const { type, object, increase, hard, scopes } = coverage
  const concerned = limited.filter(({ apiGroup = '', resource }) => apiGroup === type.group && resource === type.plural)
  const names = [...increase.keys()].filter(
    (name) =>
      concerned.some(({ matchContains = [] }) => matchContains.some((part) => name.includes(part))) &&
      !hard.some((list) => Object.hasOwn(list, name)),
  )
  if (names.length > 0) return `insufficient quota to consume: ${names.sort().join(',')}`
  const uncoveredScopes = concerned
    .flatMap(({ matchScopes = [] }) => matchScopes)
    .filter((scope) => holds(scope, type, object) && !scopes.some(({ scopeName }) => scopeName === scope.scopeName))
  return uncoveredScopes.length === 0
    ? undefined
    : `insufficient quota to match these scopes: ${uncoveredScopes.map(formatRequirement).join(', ')}`
}

function formatRequirement({ scopeName, operator, values = [] }: ScopeRequirement): string {
  return `${scopeName} ${operator}${values.length === 0 ? '' : ` [${values.join(' ')}]`}`
}
