/**
 * The rights that roles and bindings give, as an index kept by watch: what a user may do is found by the user's name
 * and groups, so that its cost depends on what is bound to them and not on how many bindings there are.
 *
 * A binding whose role does not exist grants nothing; the role may be created later.
 */
import type { Lookup, ObjectName, StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { serviceAccountName, type User } from '../../../api/model/user.ts'
import { DerivedIndex } from '../derived-index.ts'
import { type PolicyRule, type Rule, ruleOf } from './rule.ts'

/** The short id of the group of roles and bindings. */
export const rbacGroup = 'rbac.authorization'

const typeOf = (plural: string): StoredType => ({ group: rbacGroup, plural })

export type RoleKind = 'Role' | 'ClusterRole'

/** Which role a binding is to. */
export interface RoleRef {
  readonly kind: RoleKind
  readonly name: string
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Of a ServiceAccount. */
  readonly namespace: string
}

/** A RoleBinding or ClusterRoleBinding, prepared for decisions. */
export interface Binding {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding'
  /** '' of a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly role: RoleRef
  readonly subjects: readonly Subject[]
}

/** One rule that somebody has, and by what. */
export interface Grant {
  readonly rule: Rule
  readonly binding: Binding
}

/** The bindings of one role that are for one subject. */
type Bound = Map<string, Set<Binding>>
/** What is bound to somebody, by the namespace of the binding ('' for all), and by the role. */
type Holdings = Map<string, Bound>

/** All roles and bindings, indexed by subject. */
export class Policy {
  readonly #kept: DerivedIndex
  readonly #roles = new Map<string, readonly Rule[]>()
  readonly #bindings = new Map<string, Binding>()
  readonly #ofUsers = new Map<string, Holdings>()
  readonly #ofGroups = new Map<string, Holdings>()

  constructor(lookup: Lookup) {
    this.#kept = new DerivedIndex(lookup, [
      this.#rolesFrom('roles', 'Role'),
      this.#rolesFrom('clusterroles', 'ClusterRole'),
      this.#bindingsFrom('rolebindings', 'RoleBinding'),
      this.#bindingsFrom('clusterrolebindings', 'ClusterRoleBinding'),
    ])
  }

  /** Undefined when all that was heard of is known here; else resolves when it is. To be asked before anything else. */
  current(): Promise<void> | undefined {
    return this.#kept.current()
  }

  /** The first rule that holds for the user in the namespace ('' for none) and passes the test. */
  find(user: User, namespace: string, test: (rule: Rule, binding: Binding) => boolean): Grant | undefined {
    const found = this.#findIn('', user, test)
    return found !== undefined || namespace === '' ? found : this.#findIn(namespace, user, test)
  }

  /**
   * The rules of every role that holds for the user in the namespace ('' for none): the same list for the same role.
   */
  rolesOf(user: User, namespace: string): (readonly Rule[])[] {
    const roles = new Set<readonly Rule[]>()
    for (const scope of new Set(['', namespace]))
      for (const bound of this.#boundIn(scope, user))
        for (const role of bound.keys()) roles.add(this.#roles.get(role) ?? [])
    return [...roles]
  }

  /** The rules of a role, as seen from a namespace; undefined where there is no such role. */
  role({ kind, name }: RoleRef, namespace: string): readonly Rule[] | undefined {
    return this.#roles.get(kind === 'Role' ? roleKey(namespace, name) : roleKey('', name))
  }

  /** All bindings that hold in the namespace: its own, and those that hold everywhere. */
  bindings(namespace: string): Binding[] {
    return [...this.#bindings.values()].filter((binding) => binding.namespace === '' || binding.namespace === namespace)
  }

  /** The bindings of the user that hold in the namespace and name a role that does not exist. */
  dangling(user: User, namespace: string): Binding[] {
    const bound = [...new Set(['', namespace])]
      .flatMap((scope) => this.#boundIn(scope, user))
      .flatMap((each) => [...each])
    return bound.filter(([role]) => !this.#roles.has(role)).flatMap(([, bindings]) => [...bindings].slice(0, 1))
  }

  #findIn(scope: string, user: User, test: (rule: Rule, binding: Binding) => boolean): Grant | undefined {
    let found = this.#findBound(this.#ofUsers.get(user.name)?.get(scope), test)
    for (let i = 0; found === undefined && i < user.groups.length; i++)
      found = this.#findBound(this.#ofGroups.get(user.groups[i]!)?.get(scope), test)
    return found
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

/** As it is stored in a binding. */
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
  // A service account without a namespace is of the binding's.
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

/** No name of a role or a namespace holds a slash. */
function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
