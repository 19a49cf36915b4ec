/**
 * Builders for default roles and bindings. They keep the definitions short and independent of the vendor. Roles, rules,
 * bindings and subjects may specify the Kubernetes versions in which they exist.
 */
import { defined } from '../../../../api/json/json.ts'
import { groupName, type Signers, type Vendor } from '../../../../api/model/vendor.ts'
import { type Availability, exists } from '../../../../api/versions/availability.ts'
import type { EmulatedVersion, KubeVersion } from '../../../../api/versions/emulated-version.ts'
import type { Subject } from '../policy.ts'
import type { PolicyRule } from '../rule.ts'

/** A rule that may exist only in some Kubernetes versions. */
export type DefaultRule = PolicyRule & Versions

type Versions = Pick<Availability, 'since' | 'until'>

export interface DefaultRole extends Availability {
  /** The name of the role. `{certificates}` is replaced with the name of the certificates API group. */
  readonly name: string
  /** The role's rules, which refer to API groups by internal ID. */
  readonly rules: readonly DefaultRule[]
  /** Marks an aggregated role: it collects the rules of all roles with the same value in `joins`, such as `edit`. */
  readonly collects?: string
  readonly joins?: string
  /** Namespace of the role. Undefined for a ClusterRole. */
  readonly namespace?: string
}

export interface DefaultBinding extends Availability {
  readonly name: string
  readonly role: string
  readonly subjects: readonly (Subject & Versions)[]
  /** Namespace of the binding. Undefined for a ClusterRoleBinding. */
  readonly namespace?: string
}

type RoleOptions = Pick<DefaultRole, 'collects' | 'joins' | 'namespace' | keyof Availability>

export function role(name: string, rules: readonly DefaultRule[], options: RoleOptions = {}): DefaultRole {
  return { name, rules, ...options }
}

/** Declares a binding to the role with the same name, or to the role that `to` names. */
export function bind(
  name: string,
  subjects: DefaultBinding['subjects'],
  { to = name, namespace }: { readonly to?: string; readonly namespace?: string } = {},
): DefaultBinding {
  return { name, role: to, subjects, ...(namespace === undefined ? {} : { namespace }) }
}

export const user = (name: string): Subject => ({ kind: 'User', name, namespace: '' })
export const group = (name: string): Subject => ({ kind: 'Group', name, namespace: '' })
/** Declares a service account in kube-system as the subject of a binding. */
export const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' })

/** Creates a rule from verbs, group IDs and resources, as in `on('get list', 'core apps', 'pods deployments')`. */
export function on(verbs: string, groups: string, resources: string): DefaultRule {
  return { verbs: split(verbs), apiGroups: split(groups), resources: split(resources) }
}

/** Marks a rule or subject as new in a Kubernetes version. */
export function since<T extends object>(version: KubeVersion, part: T): T & Versions {
  return { ...part, since: version }
}

/** Marks a rule or subject as removed in a Kubernetes version. */
export function until<T extends object>(version: KubeVersion, part: T): T & Versions {
  return { ...part, until: version }
}

/** Restricts a rule to objects with the given names. */
export function withResourceNames(resourceNames: readonly string[], rule: DefaultRule): DefaultRule {
  return { ...rule, resourceNames }
}

export function paths(verbs: string, urls: string): DefaultRule {
  return { verbs: split(verbs), nonResourceURLs: split(urls) }
}

/** A rule that allows clients to report events. */
export const events = on('create patch update', 'core events', 'events')

/** Returns a placeholder that is later replaced by the vendor's name for a signer. */
export function signer(id: keyof Signers): string {
  return `{${id}}`
}

function split(words: string): string[] {
  return words.split(' ')
}

/** Returns a role for a vendor and Kubernetes version, with the vendor's group and signer names. */
export function inWordsOf(
  vendor: Vendor,
  version: EmulatedVersion,
  { name, rules, ...rest }: DefaultRole,
): DefaultRole & { readonly rules: readonly PolicyRule[] } {
  return {
    ...rest,
    name: name.replace('{certificates}', groupName(vendor, 'certificates')),
    rules: rules.filter((rule) => exists(rule, version)).map((rule) => ruleInWordsOf(vendor, rule)),
  }
}

function ruleInWordsOf(vendor: Vendor, rule: DefaultRule): PolicyRule {
  const { apiGroups, resourceNames, since: _since, until: _until, ...rest } = rule
  return {
    ...rest,
    ...defined({
      apiGroups: apiGroups?.map((id) => (id === '*' ? id : groupName(vendor, id))),
      resourceNames: resourceNames && withSigners(vendor, resourceNames),
    }),
  }
}

function withSigners({ signers }: Vendor, names: readonly string[]): string[] {
  const byId = new Map(Object.entries(signers).map(([id, signerName]) => [`{${id}}`, signerName as string]))
  return names.map((each) => byId.get(each) ?? each)
}
