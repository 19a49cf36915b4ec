/**
 * The RBAC mode, which allows a request if a rule in one of the user's roles allows it. The mode never denies a request
 * that another mode may allow.
 */

import type { User } from '../../../api/model/user.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Mode } from '../access.ts'
import type { Authorizer, Decision, Question } from '../authorizer.ts'
import { appliesTo, type Binding, type Grant, type Policy, rbacGroup, type Subject } from './policy.ts'
import { allows, type Rule } from './rule.ts'

/** Returns the authorizer of the RBAC mode. */
export function rbac(policy: Policy, vendor: Vendor): Authorizer {
  const decide = (question: Question): Decision => {
    const { user, attributes } = question
    const scope = attributes.resource ? attributes.namespace : ''
    const grant = policy.find(user, scope, (rule) => allows(rule, attributes))
    if (grant !== undefined) return { verdict: 'allow', reason: () => reasonOf(grant, user) }
    return { verdict: 'no opinion', reason: () => danglingOf(policy.dangling(user, scope), vendor) }
  }
  return (question) => {
    const pending = policy.current()
    return pending === undefined ? decide(question) : pending.then(() => decide(question))
  }
}

/** Formats a reason such as `RBAC: allowed by RoleBinding "read/a" of Role "read" to User "bob"`. */
function reasonOf({ binding }: Grant, user: User): string {
  const { kind, role } = binding
  const subject = binding.subjects.find((each) => appliesTo(each, user))
  return `RBAC: allowed by ${kind} "${fullName(binding)}" of ${role.kind} "${role.name}" to ${subject && describe(subject)}`
}

function fullName({ namespace, name }: Binding): string {
  return namespace === '' ? name : `${name}/${namespace}`
}

function describe({ kind, name, namespace }: Subject): string {
  return `${kind} "${namespace === '' ? name : `${name}/${namespace}`}"`
}

const storedRules = memoizeByObject((rules: readonly Rule[]) => rules.map(({ stored }) => stored))

/** Returns the rules of all roles bound to the user, and notes about missing roles. */
export function rbacRules(policy: Policy, vendor: Vendor): Mode['rulesOf'] {
  return async (user, namespace) => {
    await policy.current()
    const rules = policy.rolesOf(user, namespace).map(storedRules)
    return { rules, incomplete: false, notes: missingRoles(policy.dangling(user, namespace), vendor) }
  }
}

/** Returns a note about the user's bindings to roles that do not exist. Returns '' if there are no such bindings. */
function danglingOf(bindings: readonly Binding[], vendor: Vendor): string {
  const missing = missingRoles(bindings, vendor)
  if (missing.length === 0) return ''
  return `RBAC: ${missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`}`
}

const maxReportedBindings = 5

function missingRoles(bindings: readonly Binding[], vendor: Vendor): string[] {
  return bindings.slice(0, maxReportedBindings).map(({ role }) => {
    return `${role.kind.toLowerCase()}.${groupName(vendor, rbacGroup)} "${role.name}" not found`
  })
}
