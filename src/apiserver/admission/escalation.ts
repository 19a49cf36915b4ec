/**
 * Prevents privilege escalation: users may write or bind a role only if they themselves have all of its rules. Users
 * with permission for the verb `escalate` or `bind`, and members of the superuser group, are exempt. No flag disables
 * this check.
 */

import { type ApiError, forbiddenError, notFound, serviceUnavailable } from '../../api/model/api-error.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { shownName, superusers, type User } from '../../api/model/user.ts'
import { groupName } from '../../api/model/vendor.ts'
import { type EmulatedVersion, isAtLeast } from '../../api/versions/emulated-version.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import { shorten } from '../../base/text/shorten.ts'
import { type Access, everything } from '../authz/access.ts'
import type { Question } from '../authz/authorizer.ts'
import { coverage } from '../authz/rbac/coverage.ts'
import { type Binding, bindingOf, rbacGroup } from '../authz/rbac/policy.ts'
import type { PolicyRule } from '../authz/rbac/rule.ts'
import type { AdmissionRequest, Control } from './admission.ts'
import { changesOnlyGcFields } from './gc-fields.ts'

const plurals = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']

/** Returns a plugin that rejects roles and bindings whose author lacks some of the granted permissions. */
export function refuseEscalation(access: Access, version: EmulatedVersion): Control {
  return {
    name: 'escalation',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: plurals.map((plural) => ({ group: rbacGroup, plural })),
      subresources: [''],
    },
    // This check is part of the mutating phase and runs last in it, so that a forbidden write is rejected before it is
    // validated.
    mutate: async (request) => {
      const { user, object, oldObject, type } = request
      if (
        object === undefined ||
        user.groups.includes(superusers) ||
        (oldObject && changesOnlyGcFields(object, oldObject))
      )
        return undefined
      await access.policy.current()
      if (type.plural.endsWith('bindings')) await assertBinding(access, request, { object, version })
      else await assertRole(access, request, object)
      return undefined
    },
  }
}

async function assertRole(access: Access, request: AdmissionRequest, object: ApiObject): Promise<void> {
  if (await may(access, request, { verb: 'escalate', plural: request.type.plural, name: request.name })) return
  const rules = (object.rules ?? []) as readonly PolicyRule[]
  await assertHeld(access, request, rules)
  if (object.aggregationRule === undefined && request.oldObject?.aggregationRule === undefined) return
  // An aggregated role can collect rules from any role, so only users with all permissions may write an aggregated
  // role.
  if ((await missing(access, request, everything)).length > 0)
    throw refusal(request, 'must have cluster-admin privileges to use the aggregationRule')
}

async function assertBinding(
  access: Access,
  request: AdmissionRequest,
  { object, version }: { readonly object: ApiObject; readonly version: EmulatedVersion },
): Promise<void> {
  const binding = bindingOf(object, request.type.kind as Binding['kind'])
  const plural = binding.role.kind === 'Role' ? 'roles' : 'clusterroles'
  const { name } = binding.role
  if (await may(access, request, { verb: 'bind', plural, name })) return
  const rules = access.policy.role(binding.role, request.namespace)
  if (rules === undefined) {
    // Since Kubernetes 1.34, the error names the request's resource rather than the role's.
    const missing = isAtLeast(version, '1.34') ? request.type.plural : plural
    throw notFound({ group: request.type.group, plural: missing }, name)
  }
  await assertHeld(
    access,
    request,
    rules.map(({ stored }) => stored),
  )
}

async function may(
  { authorizer }: Access,
  { user, vendor, namespace }: AdmissionRequest,
  action: { verb: string; plural: string; name: string },
): Promise<boolean> {
  const question: Question = {
    user,
    attributes: {
      resource: true,
      group: groupName(vendor, rbacGroup),
      version: '*',
      subresource: '',
      namespace,
      ...action,
    },
  }
  return (await authorizer(question)).verdict === 'allow'
}

async function assertHeld(access: Access, request: AdmissionRequest, rules: readonly PolicyRule[]): Promise<void> {
  const lacking = await missing(access, request, rules)
  if (lacking.length === 0) return
  const { user } = request
  const missingRules = lacking.map(describe).join('\n')
  throw refusal(
    request,
    `user "${shownName(user)}" (groups=[${groupsOf(user)}]) is attempting to grant RBAC permissions not currently held:\n${missingRules}`,
  )
}

const maxReportedItems = 20
/** Maximum length in characters of the list of groups in the error message. */
const maxGroups = 4000

function groupsOf({ groups }: User): string {
  return shorten(groups.map((group) => JSON.stringify(group)).join(' '), maxGroups)
}

/** Returns the rules that the user lacks in the namespace. The list is limited in length. */
async function missing(
  { policy }: Access,
  { user, namespace }: AdmissionRequest,
  rules: readonly PolicyRule[],
): Promise<readonly PolicyRule[]> {
  const { uncovered, decided } = await new TimeSlice().run(
    coverage(policy.rolesOf(user, namespace).flat(), rules, maxReportedItems),
  )
  if (!decided && uncovered.length === 0) throw serviceUnavailable(undecided)
  return uncovered
}

const undecided =
  'the server could not check in time whether the user has all permissions that this would grant: ' +
  'split the rules into several roles, or ask a user with the escalate or bind permission'

const titles = [
  ['apiGroups', 'APIGroups'],
  ['nonResourceURLs', 'NonResourceURLs'],
  ['resources', 'Resources'],
  ['resourceNames', 'ResourceNames'],
  ['verbs', 'Verbs'],
] as const

function describe(rule: PolicyRule): string {
  const parts = titles.flatMap(([field, title]) => {
    const words = rule[field] ?? []
    return words.length === 0
      ? []
      : [
          `${title}:[${words
            .slice(0, maxReportedItems)
            .map((word) => JSON.stringify(word))
            .join(' ')}]`,
        ]
  })
  return `{${parts.join(', ')}}`
}

function refusal({ type, name }: AdmissionRequest, why: string): ApiError {
  return forbiddenError(type, name, `${type.plural}.${type.group} "${name}" is forbidden: ${why}`)
}
