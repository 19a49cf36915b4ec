/** The default roles and bindings of every cluster as API objects, with the vendor's names. */
import type { ApiObject, ObjectMeta } from '../../../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { type Availability, type Emulation, isAvailable } from '../../../../api/versions/availability.ts'
import type { EmulatedVersion } from '../../../../api/versions/emulated-version.ts'
import { rbacGroup, type Subject } from '../policy.ts'
import type { PolicyRule } from '../rule.ts'
import { clusterBindings, loopBindings, namespacedBindings } from './bindings.ts'
import { clusterRoles } from './cluster-roles.ts'
import { controllerRoles } from './controller-roles.ts'
import { namespacedRoles } from './namespaced-roles.ts'
import { type DefaultBinding, type DefaultRole, inWordsOf } from './role-builders.ts'

/** The default roles and bindings, by resource type. */
export interface DefaultPolicy {
  readonly clusterroles: readonly ApiObject[]
  readonly roles: readonly ApiObject[]
  readonly clusterrolebindings: readonly ApiObject[]
  readonly rolebindings: readonly ApiObject[]
}

/** Returns the default roles and bindings of a Kubernetes version with the given feature gates. */
export function defaultPolicy(vendor: Vendor, emulation: Emulation): DefaultPolicy {
  const isHere = (part: Availability) => isAvailable(part, emulation)
  const roles = (all: readonly DefaultRole[]) =>
    all.filter(isHere).map((each) => roleObject(inWordsOf(vendor, emulation.version, each), vendor))
  const bindings = (all: readonly DefaultBinding[]) =>
    all.filter(isHere).map((each) => bindingObject({ ...each, subjects: each.subjects.filter(isHere) }, vendor))
  return {
    clusterroles: roles([...clusterRoles, ...controllerRoles]),
    roles: roles(namespacedRoles),
    clusterrolebindings: bindings([...clusterBindings, ...loopBindings]),
    rolebindings: bindings(namespacedBindings),
  }
}

/** Returns the rules of a default ClusterRole in a Kubernetes version. */
export function defaultRules(vendor: Vendor, version: EmulatedVersion, name: string): readonly PolicyRule[] {
  const role = clusterRoles.find((each) => each.name === name)
  return role === undefined ? [] : inWordsOf(vendor, version, role).rules
}

/** Annotation that administrators set to `false` to preserve their own changes to a default role or binding. */
export function autoUpdateKey(vendor: Vendor): string {
  return vendorKey(vendor, 'autoupdate', 'rbac.authorization')
}

function metadataOf(vendor: Vendor, name: string, namespace: string | undefined): ObjectMeta {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [vendorKey(vendor, 'bootstrapping')]: 'rbac-defaults' },
    annotations: { [autoUpdateKey(vendor)]: 'true' },
  }
}

/** Returns the aggregation label, such as `rbac.authorization.orch.io/aggregate-to-edit`. */
function aggregateKey(vendor: Vendor, word: string): string {
  return `${groupName(vendor, rbacGroup)}/aggregate-to-${word}`
}

function roleObject({ name, rules, namespace, collects, joins }: DefaultRole, vendor: Vendor): ApiObject {
  const metadata = metadataOf(vendor, name, namespace)
  if (joins !== undefined) metadata.labels = { ...metadata.labels, [aggregateKey(vendor, joins)]: 'true' }
  return {
    apiVersion: apiVersionOf(vendor, rbacGroup, 'v1'),
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata,
    ...(rules.length === 0 ? {} : { rules }),
    ...(collects === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregateKey(vendor, collects)]: 'true' } }] } }),
  }
}

function bindingObject({ name, role, subjects, namespace }: DefaultBinding, vendor: Vendor): ApiObject {
  const apiGroup = groupName(vendor, rbacGroup)
  return {
    apiVersion: apiVersionOf(vendor, rbacGroup, 'v1'),
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metadataOf(vendor, name, namespace),
    ...(subjects.length === 0 ? {} : { subjects: subjects.map((each) => subjectObject(each, apiGroup)) }),
    roleRef: { apiGroup, kind: namespace === undefined ? 'ClusterRole' : 'Role', name: role },
  }
}

function subjectObject({ kind, name, namespace }: Subject, apiGroup: string) {
  return kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, apiGroup, name }
}
