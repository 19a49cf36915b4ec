/**
 * Defines endpoints that answer questions about permissions: `whoamis` returns the identity of the caller,
 * `accessexplanations` explains a decision, and `whocans` lists all users who may perform an action. Each endpoint
 * requires a separate permission.
 */

import { accessExplanation } from '../../api/kinds/ops/access-explanation.ts'
import { whoAmI } from '../../api/kinds/ops/who-am-i.ts'
import { whoCan } from '../../api/kinds/ops/who-can.ts'
import { superusers, type User } from '../../api/model/user.ts'
import type { KindOf } from '../../api/schema/kind.ts'
import type { PathAttributes, ResourceAttributes } from '../authz/authorizer.ts'
import { holders, type NearRule, nearRules, smallestRule } from '../authz/rbac/explain.ts'
import type { Binding } from '../authz/rbac/policy.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { attributesOf, type ReviewParts, userOf } from './access-reviews.ts'

export function accessQuestions(parts: ReviewParts): Endpoint[] {
  return [
    question(whoAmI, 'Returns the identity of the requesting user.', ({ object, user }) => ({
      ...object,
      status: statusOf(user),
    })),
    question(accessExplanation, 'Explains why an action is allowed or denied.', async ({ object, user }) => {
      const { spec = {} } = object
      const { user: name = '', groups = [] } = spec
      const about = name === '' && groups.length === 0 ? user : userOf(spec)
      return { ...object, status: await explain(parts, about, attributesOf(spec)) }
    }),
    question(whoCan, 'Lists the subjects that may perform an action.', async ({ object }) => {
      const { spec = {} } = object
      return { ...object, status: await listHolders(parts, attributesOf(spec)) }
    }),
  ]
}

function question<T>(kind: KindOf<T>, doc: string, answer: Endpoint<T>['answer']): Endpoint<T> {
  return { kind, subresource: '', verbs: ['create'], type: undefined, admits: 'CREATE', doc, answer }
}

function statusOf({ name, uid, groups, extra }: User) {
  return {
    user: name,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  }
}

async function explain({ access }: ReviewParts, user: User, attributes: ResourceAttributes | PathAttributes) {
  const { authorizer, policy } = access()
  const { verdict, reason } = await authorizer({ user, attributes })
  const allowed = verdict === 'allow'
  const why = reason()
  await policy.current()
  return {
    allowed,
    reason:
      why === '' && allowed && user.groups.includes(superusers) ? `members of ${superusers} may do everything` : why,
    ...(allowed
      ? {}
      : { nearRules: nearRules(policy, user, attributes).map(formatNearRule), smallestRule: smallestRule(attributes) }),
  }
}

function formatNearRule({ rule, binding, lacks }: NearRule) {
  return { rule: rule.stored, ...pathsOf(binding), lacks: [...lacks] }
}

/** Returns the paths of a role and a binding, such as `ClusterRole/view` and `RoleBinding/default/readers`. */
function pathsOf({ kind, namespace, name, role }: Binding) {
  return { role: `${role.kind}/${role.name}`, binding: [kind, namespace, name].filter((part) => part !== '').join('/') }
}

const maxHolders = 1000

async function listHolders({ access }: ReviewParts, attributes: ResourceAttributes | PathAttributes) {
  const { policy } = access()
  await policy.current()
  const ruleHolders = holders(policy, attributes, maxHolders)
  const full = ruleHolders.length >= maxHolders
  return {
    subjects: ruleHolders.map(({ subject: { kind, name, namespace }, binding }) => ({
      kind,
      name,
      ...(namespace === '' ? {} : { namespace }),
      ...pathsOf(binding),
    })),
    incomplete: full,
    notes: [
      `members of ${superusers} may do everything; authorization modes other than RBAC may allow more`,
      ...(full ? [`only the first ${maxHolders} subjects are listed`] : []),
    ],
  }
}
