/**
 * A small world of users, roles and bindings for the access tests, and a model of each user's permissions. The model
 * follows the RBAC documentation and imports nothing from the sources. It expands each binding into individual grants
 * and searches them for a match.
 */
export interface Person {
  readonly name: string
  readonly groups: readonly string[]
  /** Token of the user on the test server. If undefined, the administrator impersonates the user. */
  readonly token?: string
}

export interface Rule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface Role {
  readonly name: string
  /** Namespace of the role, or '' for a ClusterRole. */
  readonly namespace: string
  readonly rules: readonly Rule[]
}

export interface Binding {
  readonly name: string
  /** Namespace of the binding, or '' for a ClusterRoleBinding. */
  readonly namespace: string
  readonly role: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string }
  readonly to: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

const everybody = 'system:authenticated'

export const people: readonly Person[] = [
  { name: 'alice', groups: ['dev', 'ops', everybody], token: 'alice-token' },
  { name: 'bob', groups: [everybody], token: 'bob-token' },
  { name: 'carol', groups: ['readers', everybody] },
  { name: 'dave', groups: ['nobody-knows', everybody] },
  { name: 'system:serviceaccount:a:robot', groups: ['system:serviceaccounts', 'system:serviceaccounts:a', everybody] },
  { name: 'system:serviceaccount:b:robot', groups: ['system:serviceaccounts', 'system:serviceaccounts:b', everybody] },
  { name: 'system:anonymous', groups: ['system:unauthenticated'], token: '' },
]

const reading = ['get', 'list', 'watch']

export const roles: readonly Role[] = [
  { namespace: 'a', name: 'reader', rules: [{ verbs: reading, apiGroups: [''], resources: ['configmaps'] }] },
  // The role has the same name as a ClusterRole with different rules.
  { namespace: 'b', name: 'shared', rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }] },
  { namespace: '', name: 'shared', rules: [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'] }] },
  {
    namespace: 'a',
    name: 'by-name',
    rules: [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps', 'secrets'], resourceNames: ['x'] }],
  },
  { namespace: 'a', name: 'logs', rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }] },
  { namespace: '', name: 'statuses', rules: [{ verbs: ['get', 'patch'], apiGroups: ['*'], resources: ['*/status'] }] },
  {
    namespace: '',
    name: 'rbac-admin',
    rules: [{ verbs: ['*'], apiGroups: ['rbac.authorization.orch.io'], resources: ['*'] }],
  },
  { namespace: '', name: 'writer', rules: [{ verbs: ['create', 'update'], apiGroups: ['*'], resources: ['*'] }] },
  {
    namespace: '',
    name: 'remover',
    rules: [{ verbs: ['delete', 'deletecollection'], apiGroups: ['', 'coordination.orch.io'], resources: ['*'] }],
  },
  { namespace: '', name: 'patcher', rules: [{ verbs: ['patch'], apiGroups: [''], resources: ['pods', 'namespaces'] }] },
  {
    namespace: '',
    name: 'urls',
    rules: [
      { verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] },
      { verbs: ['post'], nonResourceURLs: ['*'] },
    ],
  },
  { namespace: '', name: 'nodes', rules: [{ verbs: reading, apiGroups: [''], resources: ['nodes', 'namespaces'] }] },
]

const role = (name: string) => ({ kind: 'Role' as const, name })
const clusterRole = (name: string) => ({ kind: 'ClusterRole' as const, name })
const user = (name: string) => ({ kind: 'User', name })
const group = (name: string) => ({ kind: 'Group', name })
const account = (namespace: string, name: string) => ({ kind: 'ServiceAccount', name, namespace })

export const bindings: readonly Binding[] = [
  { namespace: 'a', name: 'reader', role: role('reader'), to: [user('bob'), group('readers')] },
  { namespace: 'b', name: 'shared', role: role('shared'), to: [group('dev')] },
  { namespace: '', name: 'shared', role: clusterRole('shared'), to: [user('carol')] },
  { namespace: 'a', name: 'by-name', role: role('by-name'), to: [user('alice'), account('b', 'robot')] },
  { namespace: 'a', name: 'logs', role: role('logs'), to: [account('a', 'robot')] },
  { namespace: '', name: 'statuses', role: clusterRole('statuses'), to: [group('system:serviceaccounts:b')] },
  { namespace: 'b', name: 'rbac', role: clusterRole('rbac-admin'), to: [user('dave')] },
  { namespace: 'b', name: 'writer', role: clusterRole('writer'), to: [user('bob')] },
  { namespace: '', name: 'remover', role: clusterRole('remover'), to: [group('ops')] },
  { namespace: 'a', name: 'patcher', role: clusterRole('patcher'), to: [group('system:serviceaccounts')] },
  { namespace: '', name: 'urls', role: clusterRole('urls'), to: [user('dave'), group('system:unauthenticated')] },
  // Paths have no namespace, so a namespaced binding does not grant access to them.
  { namespace: 'a', name: 'urls', role: clusterRole('urls'), to: [user('carol')] },
  { namespace: '', name: 'nodes', role: clusterRole('nodes'), to: [user('dave')] },
  { namespace: 'b', name: 'nodes', role: clusterRole('nodes'), to: [user('carol')] },
  { namespace: 'b', name: 'dangling', role: role('no-such-role'), to: [user('bob')] },
]

/** The default permissions of every cluster, as far as these tests need them. */
const byDefault: readonly Rule[] = [
  { verbs: ['get'], nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', '/version'] },
]
const byDefaultToAll: readonly Rule[] = [
  { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
]

export interface Wish {
  readonly verb: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly path?: string
}

/** Whether the user may make the request. */
export function mayHave(person: Person, wish: Wish): boolean {
  const general = person.groups.includes(everybody) ? [...byDefault, ...byDefaultToAll] : byDefaultToAll
  if (general.some((rule) => grants(rule, wish))) return true
  return bindings.some((binding) => {
    if (!binding.to.some((each) => means(each, person))) return false
    if (binding.namespace !== '' && binding.namespace !== (wish.namespace ?? '')) return false
    const home = binding.role.kind === 'Role' ? binding.namespace : ''
    const bound = roles.find(({ name, namespace }) => name === binding.role.name && namespace === home)
    return bound?.rules.some((rule) => grants(rule, wish)) ?? false
  })
}

function means(subject: Binding['to'][number], { name, groups }: Person): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === name
    case 'Group':
      return groups.includes(subject.name)
    default:
      return `system:serviceaccount:${subject.namespace}:${subject.name}` === name
  }
}

function grants(rule: Rule, { verb, group = '', resource, subresource = '', name = '', path }: Wish): boolean {
  if (!among(rule.verbs, [verb])) return false
  if (path !== undefined) return (rule.nonResourceURLs ?? []).some((said) => pathFits(said, path))
  const whole = subresource === '' ? `${resource}` : `${resource}/${subresource}`
  const spelled = subresource === '' ? [whole] : [whole, `*/${subresource}`]
  if (!among(rule.apiGroups ?? [], [group]) || !among(rule.resources ?? [], spelled)) return false
  return rule.resourceNames === undefined || rule.resourceNames.includes(name)
}

function among(said: readonly string[], spelled: readonly string[]): boolean {
  return said.includes('*') || spelled.some((each) => said.includes(each))
}

function pathFits(said: string, path: string): boolean {
  return said.endsWith('*') ? path.startsWith(said.slice(0, -1)) : said === path
}

/** Returns the objects of this world for the administrator to create. */
export function objectsOfWorld(): { path: string; object: object }[] {
  const base = '/apis/rbac.authorization.orch.io/v1'
  const place = (namespace: string, plural: string) =>
    namespace === '' ? `${base}/cluster${plural}` : `${base}/namespaces/${namespace}/${plural}`
  return [
    ...roles.map(({ name, namespace, rules }) => ({
      path: place(namespace, 'roles'),
      object: { metadata: { name }, rules },
    })),
    ...bindings.map(({ name, namespace, role: roleRef, to }) => ({
      path: place(namespace, 'rolebindings'),
      object: { metadata: { name }, roleRef, subjects: to },
    })),
  ]
}
