/**
 * Nobody gives what they do not have: a role may hold only rules that its writer has, and may be bound only by who has its
 * rules. The verbs `escalate` and `bind` lift this, and so does being a superuser. Always there: no flag turns it off.
 */

import { type ApiError, forbiddenError, notFound, serviceUnavailable } from '../../api/model/api-error.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { shownName, superusers, type User } from '../../api/model/user.ts'
import { groupName } from '../../api/model/vendor.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import { shorten } from '../../base/text/shorten.ts'
import { type Access, everything } from '../authz/access.ts'
import type { Question } from '../authz/authorizer.ts'
import { coverage } from '../authz/rbac/covers.ts'
import { type Binding, bindingOf, rbacGroup } from '../authz/rbac/policy.ts'
import type { PolicyRule } from '../authz/rbac/rule.ts'
import type { AdmissionRequest, Control } from './admission.ts'
import { changesOnlyGcFields } from './gc-fields.ts'

const plurals = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']

/** A control that keeps users from granting rights that they do not have. */
export function refuseEscalation(access: Access): Control {
  return {
    name: 'escalation',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: plurals.map((plural) => ({ group: rbacGroup, plural })),
      subresources: [''],
    },
    // After all that may change the object; before it is validated, as its writer may not even try.
    mutate: async (request) => {
      const { user, object, oldObject, type } = request
      if (
        object === undefined ||
        user.groups.includes(superusers) ||
        (oldObject && changesOnlyGcFields(object, oldObject))
      )
        return undefined
      await access.policy.current()
      await (type.plural.endsWith('bindings') ? assertBinding : assertRole)(access, request, object)
      return undefined
    },
  }
}

async function assertRole(access: Access, request: AdmissionRequest, object: ApiObject): Promise<void> {
  if (await may(access, request, { verb: 'escalate', plural: request.type.plural, name: request.name })) return
  const rules = (object.rules ?? []) as readonly PolicyRule[]
  await assertHeld(access, request, rules)
  if (object.aggregationRule === undefined && request.oldObject?.aggregationRule === undefined) return
  // What an aggregated role may become: anything.
  if ((await missing(access, request, everything)).length > 0)
    throw refusal(request, 'must have cluster-admin privileges to use the aggregationRule')
}

async function assertBinding(access: Access, request: AdmissionRequest, object: ApiObject): Promise<void> {
  const binding = bindingOf(object, request.type.kind as Binding['kind'])
  const plural = binding.role.kind === 'Role' ? 'roles' : 'clusterroles'
  const { name } = binding.role
  if (await may(access, request, { verb: 'bind', plural, name })) return
  const rules = access.policy.role(binding.role, request.namespace)
  if (rules === undefined) throw notFound({ group: request.type.group, plural }, name)
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
  const told = lacking.map(describe).join('\n')
  throw refusal(
    request,
    `user "${shownName(user)}" (groups=[${groupsOf(user)}]) is attempting to grant RBAC permissions not currently held:\n${told}`,
  )
}

const maxTold = 20
/** In characters. */
const maxGroups = 4000

function groupsOf({ groups }: User): string {
  return shorten(groups.map((group) => JSON.stringify(group)).join(' '), maxGroups)
}

/** The rules that the writer does not have where the object is, some of them where there are many. */
async function missing(
  { policy }: Access,
  { user, namespace }: AdmissionRequest,
  rules: readonly PolicyRule[],
): Promise<readonly PolicyRule[]> {
  const { uncovered, decided } = await new TimeSlice().run(
    coverage(policy.rolesOf(user, namespace).flat(), rules, maxTold),
  )
  if (!decided && uncovered.length === 0) throw serviceUnavailable(undecided)
  return uncovered
}

const undecided =
  'the server could not find out in time whether the user has all rights that this would give: ' +
  'split the rules into several roles, or ask somebody who may escalate or bind'

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
            .slice(0, maxTold)
            .map((word) => JSON.stringify(word))
            .join(' ')}]`,
        ]
  })
  return `{${parts.join(', ')}}`
}

function refusal({ type, name }: AdmissionRequest, why: string): ApiError {
  return forbiddenError(type, name, `${type.plural}.${type.group} "${name}" is forbidden: ${why}`)
}
