/** Webhook rules: the operations and resources that trigger a call. `*` matches any value. */
import type { AdmissionOperation } from '../admission.ts'
import type { FormResource } from '../object-forms.ts'

export interface Rule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}

/** The request attributes that are compared with webhook rules. */
export interface RuledRequest {
  readonly operation: AdmissionOperation
  readonly resource: FormResource
  /** Name of the subresource, or '' for the object itself. */
  readonly subresource: string
  /** Whether the object is in a namespace. False for Namespaces themselves. */
  readonly namespaced: boolean
}

export function ruleMatches(rule: Rule, { operation, resource, subresource, namespaced }: RuledRequest): boolean {
  return (
    names(rule.operations, operation) &&
    names(rule.apiGroups, resource.group) &&
    names(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, resource.resource, subresource)) &&
    (rule.scope ?? '*') !== (namespaced ? 'Cluster' : 'Namespaced')
  )
}

function names(list: readonly string[] = [], value: string): boolean {
  return list.includes('*') || list.includes(value)
}

/**
 * Whether a pattern matches a resource. `pods` matches only the pods themselves. `pods/log` matches one subresource.
 * `pods/*` matches the pods and all their subresources. A `*` in place of the resource name matches all resources.
 */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const [resourcePattern, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)]
  return (resourcePattern === '*' || resourcePattern === resource) && (sub === '*' || sub === subresource)
}
