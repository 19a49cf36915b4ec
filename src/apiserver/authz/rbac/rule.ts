/**
 * A rule of a role: verbs on resources or on non-resource paths. `*` matches everything.
 *
 *   pods             pods without their subresources
 *   pods/log         only the subresource
 *   * / scale (written as one word) the subresource of every resource
 *   /logs/*          every path with the given prefix
 *
 * Rules can only allow requests, never deny them. A rule with resource names does not apply to requests without a name,
 * such as list requests.
 */
import { trimEndOf } from '../../../base/text/trim-end.ts'
import type { PathAttributes, ResourceAttributes } from '../authorizer.ts'

/** A rule as stored in a Role or ClusterRole. */
export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The entries of a list in a rule. Undefined matches any value. */
type Entries = ReadonlySet<string> | undefined

/** A rule of a role, in a form that is fast to check. */
export interface Rule {
  readonly stored: PolicyRule
  readonly verbs: Entries
  readonly groups: Entries
  readonly resources: Entries
  /** Resource names that the rule allows. If undefined, the rule allows all names and also requests without a name. */
  readonly names: Entries
  /** Non-resource paths that the rule matches exactly. */
  readonly paths: Entries
  /** Prefixes of non-resource paths. */
  readonly beginnings: readonly string[]
}

/** Converts a stored rule to the form for decisions. */
export function ruleOf(stored: PolicyRule): Rule {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = stored
  return {
    stored,
    verbs: entriesOf(verbs),
    groups: entriesOf(apiGroups),
    resources: entriesOf(resources),
    names: resourceNames.length === 0 ? undefined : new Set(resourceNames),
    paths: entriesOf(nonResourceURLs),
    beginnings: nonResourceURLs.filter((path) => path.endsWith('*')).map(beginningOf),
  }
}

function entriesOf(list: readonly string[]): Entries {
  return list.includes('*') ? undefined : new Set(list)
}

function beginningOf(path: string): string {
  return trimEndOf(path, '*')
}

export function allows(rule: Rule, attributes: ResourceAttributes | PathAttributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false
  return attributes.resource ? allowsResource(rule, attributes) : allowsPath(rule, attributes.path)
}

function allowsResource({ groups, resources, names }: Rule, attributes: ResourceAttributes): boolean {
  const { group, plural, subresource, name } = attributes
  return has(groups, group) && hasResource(resources, plural, subresource) && has(names, name)
}

function hasResource(resources: Entries, plural: string, subresource: string): boolean {
  if (resources === undefined) return true
  if (subresource === '') return resources.has(plural)
  return resources.has(`${plural}/${subresource}`) || resources.has(`*/${subresource}`)
}

export function allowsPath({ paths, beginnings }: Rule, path: string): boolean {
  return has(paths, path) || beginnings.some((beginning) => path.startsWith(beginning))
}

function has(entries: Entries, value: string): boolean {
  return entries === undefined || entries.has(value)
}
