/**
 * The audit policy determines the audit level of a request and the stages to record. The first matching rule decides. A
 * request that matches no rule is not recorded. Rules are interpreted as in kube-apiserver 1.23.
 */
import type { User } from '../../api/model/user.ts'

/** Audit levels in ascending order, from recording nothing to recording request and response bodies. */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
/** The level of detail that is recorded about a request. */
export type Level = (typeof levels)[number]

/**
 * Audit stages: the server received the request, started a long-running response, completed the response, or failed.
 */
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
/** The point in the processing of a request at which an event is recorded. */
export type Stage = (typeof stages)[number]

/** Resources of one API group that a rule matches. An empty list matches all resources of the group. */
export interface GroupResources {
  /** API group as in URLs, or '' for the core group. */
  readonly group: string
  /** Patterns: `pods`, `pods/log`, `pods/*`, `*` + `/status`, or `*`. */
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

/** A rule of an audit policy. An empty list matches everything. */
export interface PolicyRule {
  readonly level: Level
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly GroupResources[]
  readonly namespaces: readonly string[]
  readonly nonResourceURLs: readonly string[]
  readonly omitStages: readonly Stage[]
  readonly omitManagedFields: boolean
}

/** The request attributes that are compared with audit rules. */
export type AuditedRequest = { readonly verb: string; readonly path: string } & (
  | { readonly resource: false }
  | {
      readonly resource: true
      readonly group: string
      readonly plural: string
      readonly subresource: string
      readonly namespace: string
      readonly name: string
    }
)

type AuditedResource = Extract<AuditedRequest, { resource: true }>

/** Decides how a request is recorded. `user` is undefined if authentication failed. */
export type Policy = (request: AuditedRequest, user: User | undefined) => Decision

/** The audit level of a request and the stages to omit. */
export interface Decision {
  readonly level: Level
  readonly omitStages: ReadonlySet<Stage>
  readonly omitManagedFields: boolean
}

const unrecorded: Decision = { level: 'None', omitStages: new Set(), omitManagedFields: false }

/**
 * Creates a policy from its rules. Computes each rule's decision in advance, so that each request requires only a
 * lookup.
 */
export function policyOf(rules: readonly PolicyRule[], omitStages: readonly Stage[] = []): Policy {
  const decided = rules.map((rule) => ({
    rule,
    decision: {
      level: rule.level,
      omitStages: new Set([...omitStages, ...rule.omitStages]),
      omitManagedFields: rule.omitManagedFields,
    },
  }))
  return (request, user) => {
    for (const { rule, decision } of decided) if (matches(rule, request, user)) return decision
    return unrecorded
  }
}

function matches(rule: PolicyRule, request: AuditedRequest, user: User | undefined): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule
  if (users.length > 0 && !users.includes(user?.name ?? '')) return false
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) return false
  if (verbs.length > 0 && !verbs.includes(request.verb)) return false
  if (namespaces.length > 0 || resources.length > 0) return request.resource && matchesResource(rule, request)
  if (nonResourceURLs.length > 0)
    return !request.resource && nonResourceURLs.some((url) => matchesPath(url, request.path))
  return true
}

/** Whether a rule matches the resource and namespace of a request. The namespace is '' for cluster-scoped resources. */
function matchesResource({ namespaces, resources }: PolicyRule, request: AuditedResource): boolean {
  if (namespaces.length > 0 && !namespaces.includes(request.namespace)) return false
  return resources.length === 0 || resources.some((each) => includes(each, request))
}

function includes({ group, resources, resourceNames }: GroupResources, request: AuditedResource): boolean {
  if (group !== request.group) return false
  if (resources.length === 0) return true
  if (resourceNames.length > 0 && !resourceNames.includes(request.name)) return false
  return resources.some((pattern) => matchesType(pattern, request))
}

function matchesType(pattern: string, { plural, subresource }: AuditedResource): boolean {
  if (pattern === '*' || pattern === (subresource === '' ? plural : `${plural}/${subresource}`)) return true
  if (pattern === `${plural}/*`) return true
  return subresource !== '' && pattern === `*/${subresource}`
}

/** Whether a path matches a pattern, which is an exact path such as `/healthz`, a prefix such as `/api*`, or `*`. */
function matchesPath(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path
}

const anything = {
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: [],
  omitManagedFields: false,
} as const

/**
 * Returns the default policy, which records the metadata of all writes, except for the very frequent writes to leases
 * and events.
 */
export function writesOnly(groupOf: (id: string) => string): Policy {
  const busy = [
    { group: groupOf('coordination'), resources: ['leases'], resourceNames: [] },
    { group: groupOf('core'), resources: ['events'], resourceNames: [] },
    { group: groupOf('events'), resources: ['events'], resourceNames: [] },
  ]
  const writing = ['create', 'update', 'patch', 'delete', 'deletecollection']
  return policyOf(
    [
      // Both rules list only write verbs, so reads match no rule and are not recorded.
      { ...anything, level: 'None', verbs: writing, resources: busy },
      { ...anything, level: 'Metadata', verbs: writing },
    ],
    ['RequestReceived', 'ResponseStarted'],
  )
}
