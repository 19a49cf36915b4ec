/**
 * Matches requests against FlowSchemas. Rules are compiled once per change to a FlowSchema. Subjects depend only on the
 * user and are tested first, so that only the resource and path rules must be tested for each request (see
 * `classifier.ts`).
 */
import type { FlowSchema } from '../../api/kinds/flowcontrol/flow-schema.ts'
import { serviceAccountName, type User } from '../../api/model/user.ts'

/** The request attributes that are compared with FlowSchemas. */
export type FlowAttributes = ResourceAttributes | PathAttributes

export interface ResourceAttributes {
  readonly resource: true
  readonly verb: string
  /** The API group as in URLs. Empty for the core group. */
  readonly group: string
  readonly plural: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

export interface PathAttributes {
  readonly resource: false
  readonly verb: string
  readonly path: string
}

/** The entries of a list in a rule. Undefined matches any name. */
type Names = ReadonlySet<string> | undefined

interface ResourceRule {
  readonly verbs: Names
  readonly groups: Names
  readonly resources: Names
  readonly namespaces: Names
  readonly clusterScope: boolean
}

interface PathRule {
  readonly verbs: Names
  readonly paths: Names
  /** Path prefixes. Each ends in a slash and matches all paths below it. */
  readonly prefixes: readonly string[]
}

/** The compiled rules for a group of subjects. */
export interface CompiledRules {
  readonly isSubject: (user: User) => boolean
  readonly resources: readonly ResourceRule[]
  readonly paths: readonly PathRule[]
}

type Rules = NonNullable<NonNullable<FlowSchema['spec']>['rules']>[number]
type Subjects = NonNullable<Rules['subjects']>

/** Compiles the rules of a FlowSchema, so that they need no parsing for each request. */
export function compileRules({ spec }: FlowSchema): CompiledRules[] {
  return (spec?.rules ?? []).map(({ subjects = [], resourceRules = [], nonResourceRules = [] }) => ({
    isSubject: subjectTest(subjects),
    resources: resourceRules.map(({ verbs, apiGroups, resources, namespaces, clusterScope = false }) => ({
      verbs: namesOf(verbs),
      groups: namesOf(apiGroups),
      resources: namesOf(resources),
      namespaces: namesOf(namespaces),
      clusterScope,
    })),
    paths: nonResourceRules.map(({ verbs, nonResourceURLs = [] }) => ({
      verbs: namesOf(verbs),
      paths: namesOf(nonResourceURLs),
      prefixes: nonResourceURLs.filter((url) => url.endsWith('/*')).map((url) => url.slice(0, -1)),
    })),
  }))
}

/** Whether the rules match the request, regardless of its user. */
export function matchesRules({ resources, paths }: CompiledRules, attributes: FlowAttributes): boolean {
  // Use plain loops, which allocate no closures, because this code runs for every request.
  if (attributes.resource) {
    for (const rule of resources) if (matchesResource(rule, attributes)) return true
    return false
  }
  for (const rule of paths) if (matchesPath(rule, attributes)) return true
  return false
}

function namesOf(values: readonly string[] = []): Names {
  return values.includes('*') ? undefined : new Set(values)
}

function has(names: Names, value: string): boolean {
  return names === undefined || names.has(value)
}

function matchesResource(rule: ResourceRule, attributes: ResourceAttributes): boolean {
  const { verb, group, plural, subresource } = attributes
  return (
    has(rule.verbs, verb) &&
    has(rule.groups, group) &&
    (rule.resources === undefined || rule.resources.has(subresource === '' ? plural : `${plural}/${subresource}`)) &&
    matchesNamespace(rule, namespaceOf(attributes))
  )
}

function matchesNamespace({ namespaces, clusterScope }: ResourceRule, namespace: string): boolean {
  return namespace === '' ? clusterScope : has(namespaces, namespace)
}

/** Returns the namespace that a request belongs to. A Namespace belongs to itself. */
export function namespaceOf({ group, plural, namespace, name }: ResourceAttributes): string {
  return plural === 'namespaces' && group === '' ? name : namespace
}

function matchesPath({ verbs, paths, prefixes }: PathRule, { verb, path }: PathAttributes): boolean {
  return has(verbs, verb) && (has(paths, path) || prefixes.some((prefix) => path.startsWith(prefix)))
}

/** Returns a function that tests whether a user matches one of the subjects. */
function subjectTest(subjects: Subjects): (user: User) => boolean {
  const subjectsOfKind = (kind: string) => subjects.filter((each) => each.kind === kind)
  const users = namesOf([
    ...subjectsOfKind('User').map(({ user }) => user?.name ?? ''),
    ...subjectsOfKind('ServiceAccount').map(({ serviceAccount: { namespace = '', name = '' } = {} }) =>
      accountName(namespace, name),
    ),
  ])
  const groups = namesOf(subjectsOfKind('Group').map(({ group }) => group?.name ?? ''))
  const accounts = subjectsOfKind('ServiceAccount').filter(({ serviceAccount }) => serviceAccount?.name === '*')
  const prefixes = accounts.map(({ serviceAccount }) => serviceAccountName(serviceAccount?.namespace ?? '', ''))
  return (user) =>
    users?.has(user.name) !== false ||
    groups === undefined ||
    user.groups.some((group) => groups.has(group)) ||
    prefixes.some((prefix) => user.name.startsWith(prefix))
}

/**
 * Returns the user name of a service account, or '' for the name `*`. All accounts of a namespace are matched by prefix
 * instead, because `*` itself would match every user.
 */
function accountName(namespace: string, name: string): string {
  return name === '*' ? '' : serviceAccountName(namespace, name)
}
