/**
 * Explains authorization decisions: the closest rules, the smallest rule that would allow a request, and all subjects
 * that are allowed.
 */
import type { User } from '../../../api/model/user.ts'
import type { PathAttributes, ResourceAttributes } from '../authorizer.ts'
import type { Binding, Grant, Policy, Subject } from './policy.ts'
import { allows, type PolicyRule, type Rule } from './rule.ts'

type Attributes = ResourceAttributes | PathAttributes

/** One of the user's rules, and what it lacks to allow the request. */
export interface NearRule extends Grant {
  readonly lacks: readonly string[]
}

const maxNear = 10

/** Returns the user's rules that come closest to allowing the request. */
export function nearRules(policy: Policy, user: User, attributes: Attributes): NearRule[] {
  const near: NearRule[] = []
  policy.find(user, scopeOf(attributes), (rule, binding) => {
    if (isForPaths(rule) === attributes.resource) return false
    const lacks = lacking(rule, attributes)
    if (lacks !== undefined) near.push({ rule, binding, lacks })
    return false
  })
  return near.sort((a, b) => a.lacks.length - b.lacks.length).slice(0, maxNear)
}

function isForPaths({ stored }: Rule): boolean {
  return (stored.nonResourceURLs ?? []).length > 0
}

function scopeOf(attributes: Attributes): string {
  return attributes.resource ? attributes.namespace : ''
}

/**
 * Returns the parts of a request that a rule does not match, such as the verb. Returns undefined if too few parts
 * match.
 */
export function lacking(rule: Rule, attributes: Attributes): string[] | undefined {
  const parts = attributes.resource ? resourceParts : pathParts
  // Check each part separately by letting the rule match everything else.
  const lacks = parts.filter(({ only }) => !allows({ ...rule, ...only }, attributes)).map(({ part }) => part)
  return lacks.length === parts.length || (attributes.resource && lacks.length > 2) ? undefined : lacks
}

interface Part {
  readonly part: string
  readonly only: Partial<Rule>
}

const free = { verbs: undefined, groups: undefined, resources: undefined, names: undefined }
const { verbs: _v, ...butVerbs } = free
const { groups: _g, ...butGroups } = free
const { resources: _r, ...butResources } = free
const { names: _n, ...butNames } = free

const resourceParts: readonly Part[] = [
  { part: 'verb', only: butVerbs },
  { part: 'apiGroup', only: butGroups },
  { part: 'resource', only: butResources },
  { part: 'name', only: butNames },
]

const pathParts: readonly Part[] = [
  { part: 'verb', only: { paths: undefined } },
  { part: 'path', only: { verbs: undefined } },
]

/** Returns the smallest rule that allows a request. */
export function smallestRule(attributes: Attributes): PolicyRule {
  if (!attributes.resource) return { verbs: [attributes.verb], nonResourceURLs: [attributes.path] }
  const { verb, group, plural, subresource, name } = attributes
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  const rule = { verbs: [verb], apiGroups: [group], resources: [resource] }
  return name === '' ? rule : { ...rule, resourceNames: [name] }
}

export interface Holder {
  readonly subject: Subject
  readonly binding: Binding
}

/** Returns all distinct subjects whose bindings allow the request. */
export function holders(policy: Policy, attributes: Attributes, limit: number): Holder[] {
  const holdersByKey = new Map<string, Holder>()
  for (const binding of policy.bindings(scopeOf(attributes))) {
    if (!policy.role(binding.role, binding.namespace)?.some((rule) => allows(rule, attributes))) continue
    for (const subject of binding.subjects) {
      const key = `${subject.kind}/${subject.namespace}/${subject.name}`
      if (!holdersByKey.has(key)) holdersByKey.set(key, { subject, binding })
      if (holdersByKey.size >= limit) return [...holdersByKey.values()]
    }
  }
  return [...holdersByKey.values()]
}
