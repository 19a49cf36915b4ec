/**
 * One rule of a role: which verbs on which resources, or on which paths that are no resource. `*` stands for all.
 *
 *   pods             pods, but none of their sub-resources
 *   pods/log         the sub-resource alone
 *   * / scale        (written as one word) the sub-resource of every resource
 *   /logs/*          every path that begins so
 *
 * Rules only ever allow. A rule that names objects does not hold for requests that name none, such as lists.
 */
import { trimEndOf } from '../../../base/text/trim-end.ts'
import type { PathAttributes, ResourceAttributes } from '../authorizer.ts'

/** As it is stored in a Role or ClusterRole. */
export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** A set of words; undefined: all words. */
type Words = ReadonlySet<string> | undefined

/** A rule made ready to be asked many times. */
export interface Rule {
  readonly stored: PolicyRule
  readonly verbs: Words
  readonly groups: Words
  readonly resources: Words
  /** Undefined: objects of every name, and requests that name none. */
  readonly names: Words
  /** Whole paths. */
  readonly paths: Words
  /** Beginnings of paths. */
  readonly beginnings: readonly string[]
}

/** Prepares a stored rule for decisions. */
export function ruleOf(stored: PolicyRule): Rule {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = stored
  return {
    stored,
    verbs: wordsOf(verbs),
    groups: wordsOf(apiGroups),
    resources: wordsOf(resources),
    names: resourceNames.length === 0 ? undefined : new Set(resourceNames),
    paths: wordsOf(nonResourceURLs),
    beginnings: nonResourceURLs.filter((path) => path.endsWith('*')).map(beginningOf),
  }
}

function wordsOf(words: readonly string[]): Words {
  return words.includes('*') ? undefined : new Set(words)
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

function hasResource(resources: Words, plural: string, subresource: string): boolean {
  if (resources === undefined) return true
  if (subresource === '') return resources.has(plural)
  return resources.has(`${plural}/${subresource}`) || resources.has(`*/${subresource}`)
}

export function allowsPath({ paths, beginnings }: Rule, path: string): boolean {
  return has(paths, path) || beginnings.some((beginning) => path.startsWith(beginning))
}

function has(words: Words, word: string): boolean {
  return words === undefined || words.has(word)
}
