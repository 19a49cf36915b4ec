/**
 * An index of the permissions that roles and bindings grant. Watches keep the index up to date. Lookups use the user
 * name and groups, so that their cost depends on the number of the user's bindings rather than the total number of
 * bindings.
 *
 * A binding to a missing role grants nothing until the role is created.
 */
import type { Lookup, ObjectName, StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { serviceAccountName, type User } from '../../../api/model/user.ts'
import { DerivedIndex } from '../derived-index.ts'
import { type PolicyRule, type Rule, ruleOf } from './rule.ts'

/** The internal ID of the API group with roles and bindings. */
export const rbacGroup = 'rbac.authorization'

const typeOf = (plural: string): StoredType => ({ group: rbacGroup, plural })

export type RoleKind = 'Role' | 'ClusterRole'

/** The role that a binding refers to. */
export interface RoleRef {
  readonly kind: RoleKind
  readonly name: string
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Namespace of a ServiceAccount. */
  readonly namespace: string
}

/** A RoleBinding or ClusterRoleBinding in the form used for decisions. */
export interface Binding {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding'
  /** Namespace of the binding, or '' for a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly role: RoleRef
  readonly subjects: readonly Subject[]
}

/** One of a user's rules, and the binding that grants it to the user. */
export interface Grant {
  readonly rule: Rule
  readonly binding: Binding
}

/** A subject's bindings by role. */
type Bound = Map<string, Set<Binding>>
/** A subject's bindings by namespace and role. The namespace of cluster-wide bindings is ''. */
type Holdings = Map<string, Bound>

/** All roles and bindings, indexed by subject. */
export class Policy {
  readonly #index: DerivedIndex
  readonly #roles = new Map<string, readonly Rule[]>()
  readonly #bindings = new Map<string, Binding>()
  readonly #ofUsers = new Map<string, Holdings>()
  readonly #ofGroups = new Map<string, Holdings>()

  constructor(lookup: Lookup) {
    this.#index = new DerivedIndex(lookup, [
      this.#rolesFrom('roles', 'Role'),
      this.#rolesFrom('clusterroles', 'ClusterRole'),
      this.#bindingsFrom('rolebindings', 'RoleBinding'),
      this.#bindingsFrom('clusterrolebindings', 'ClusterRoleBinding'),
    ])
  }

  /**
   * Resolves when the index contains all changes received so far. Returns undefined if it already does. Await it before
   * each query.
   */
  current(): Promise<void> | undefined {
    return this.#index.current()
  }

  /**
   * Returns the user's first rule that passes the test. Searches cluster-wide bindings first, then those in the
   * namespace, unless the namespace is ''.
   */
  find(user: User, namespace: string, test: (rule: Rule, binding: Binding) => boolean): Grant | undefined {
    const clusterRule = this.#findIn('', user, test)
    return clusterRule !== undefined || namespace === '' ? clusterRule : this.#findIn(namespace, user, test)
  }

  /**
   * Returns the rules of each of the user's roles, including cluster-wide roles. The list of a role stays the same
   * object until the role changes.
   */
  rolesOf(user: User, namespace: string): (readonly Rule[])[] {
    const roles = new Set<readonly Rule[]>()
    for (const scope of new Set(['', namespace]))
      for (const bound of this.#boundIn(scope, user))
        for (const role of bound.keys()) roles.add(this.#roles.get(role) ?? [])
    return [...roles]
  }

  /**
   * Returns the rules of the role that a binding in the namespace refers to, or undefined if the role does not exist.
   */
  role({ kind, name }: RoleRef, namespace: string): readonly Rule[] | undefined {
    return this.#roles.get(kind === 'Role' ? roleKey(namespace, name) : roleKey('', name))
  }

  /** Returns the bindings in a namespace and all cluster-wide bindings. */
  bindings(namespace: string): Binding[] {
    return [...this.#bindings.values()].filter((binding) => binding.namespace === '' || binding.namespace === namespace)
  }

  /** Returns the user's bindings in the namespace that refer to a missing role. */
  dangling(user: User, namespace: string): Binding[] {
    const bound = [...new Set(['', namespace])]
      .flatMap((scope) => this.#boundIn(scope, user))
      .flatMap((each) => [...each])
    return bound.filter(([role]) => !this.#roles.has(role)).flatMap(([, bindings]) => [...bindings].slice(0, 1))
  }

  #findIn(scope: string, user: User, test: (rule: Rule, binding: Binding) => boolean): Grant | undefined {
    let grantedRule = this.#findBound(this.#ofUsers.get(user.name)?.get(scope), test)
    for (let i = 0; grantedRule === undefined && i < user.groups.length; i++)
      grantedRule = this.#findBound(this.#ofGroups.get(user.groups[i]!)?.get(scope), test)
    return grantedRule
  }

  #boundIn(scope: string, { name, groups }: User): Bound[] {
    const holdings = [this.#ofUsers.get(name), ...groups.map((group) => this.#ofGroups.get(group))]
    return holdings.flatMap((held) => held?.get(scope) ?? [])
  }

  #findBound(bound: Bound | undefined, test: (rule: Rule, binding: Binding) => boolean): Grant | undefined {
    if (bound === undefined) return undefined
    for (const [role, bindings] of bound) {
      const rules = this.#roles.get(role)
      if (rules === undefined) continue
      const [binding] = bindings
      for (const rule of rules) if (test(rule, binding!)) return { rule, binding: binding! }
    }
    return undefined
  }

  #rolesFrom(plural: string, kind: RoleKind) {
    const isOwn = (key: string) => key.startsWith('/') === (kind === 'ClusterRole')
    return {
      type: typeOf(plural),
      take: ({ namespace, name }: ObjectName, object: ApiObject | undefined) => {
        const key = roleKey(namespace, name)
        if (object === undefined) this.#roles.delete(key)
        else this.#roles.set(key, ((object.rules ?? []) as readonly PolicyRule[]).map(ruleOf))
      },
      clear: () => {
        for (const key of [...this.#roles.keys()]) if (isOwn(key)) this.#roles.delete(key)
      },
    }
  }

  #bindingsFrom(plural: string, kind: Binding['kind']) {
    return {
      type: typeOf(plural),
      take: ({ namespace, name }: ObjectName, object: ApiObject | undefined) => {
        const key = `${namespace}/${name}`
        const before = this.#bindings.get(key)
        if (before !== undefined) this.#unbind(key, before)
        if (object !== undefined) this.#bind(key, bindingOf(object, kind))
      },
      clear: () => {
        for (const [key, binding] of [...this.#bindings]) if (binding.kind === kind) this.#unbind(key, binding)
      },
    }
  }

  #bind(key: string, binding: Binding): void {
    this.#bindings.set(key, binding)
    const role = keyOfRole(binding)
    for (const subject of binding.subjects) {
      const { index, name } = this.#placeOf(subject)
      const holdings = entry(index, name, () => new Map())
      const bound = entry(holdings, binding.namespace, () => new Map())
      entry(bound, role, () => new Set()).add(binding)
    }
  }

  #unbind(key: string, binding: Binding): void {
    this.#bindings.delete(key)
    const role = keyOfRole(binding)
    for (const subject of binding.subjects) {
      const { index, name } = this.#placeOf(subject)
      const holdings = index.get(name)
      const bound = holdings?.get(binding.namespace)
      const bindings = bound?.get(role)
      bindings?.delete(binding)
      if (bindings?.size === 0) bound!.delete(role)
      if (bound?.size === 0) holdings!.delete(binding.namespace)
      if (holdings?.size === 0) index.delete(name)
    }
  }

  #placeOf({ kind, namespace, name }: Subject): { index: Map<string, Holdings>; name: string } {
    if (kind === 'Group') return { index: this.#ofGroups, name }
    return { index: this.#ofUsers, name: kind === 'User' ? name : serviceAccountName(namespace, name) }
  }
}

/** A binding as stored in a RoleBinding or ClusterRoleBinding. */
interface StoredBinding {
  readonly roleRef?: { readonly kind?: string; readonly name?: string }
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[]
}

/** Reads a stored binding. */
export function bindingOf(object: ApiObject, kind: Binding['kind']): Binding {
  const { namespace = '', name = '' } = object.metadata
  const { roleRef = {}, subjects = [] } = object as StoredBinding
  return {
    kind,
    namespace,
    name,
    role: { kind: roleRef.kind === 'Role' ? 'Role' : 'ClusterRole', name: roleRef.name ?? '' },
    subjects: subjects.flatMap((subject) => subjectOf(subject, namespace)),
  }
}

type StoredSubject = NonNullable<StoredBinding['subjects']>[number]

function subjectOf({ kind, name = '', namespace = '' }: StoredSubject, own: string): Subject[] {
  if (kind === 'User' || kind === 'Group') return [{ kind, name, namespace: '' }]
  // Without a namespace, a service account belongs to the namespace of the binding.
  const home = namespace === '' ? own : namespace
  return kind === 'ServiceAccount' && home !== '' ? [{ kind, name, namespace: home }] : []
}

export function appliesTo({ kind, name, namespace }: Subject, user: User): boolean {
  if (kind === 'Group') return user.groups.includes(name)
  return user.name === (kind === 'User' ? name : serviceAccountName(namespace, name))
}

function keyOfRole({ role, namespace }: Binding): string {
  return roleKey(role.kind === 'Role' ? namespace : '', role.name)
}

/** Returns a unique key for a role. Neither namespaces nor names contain a slash. */
function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const existingEntry = map.get(key)
  if (existingEntry !== undefined) return existingEntry
  const made = make()
  map.set(key, made)
  return made
}
