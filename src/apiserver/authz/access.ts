/**
 * The server's authorization: an authorizer that combines the modes of `--authorization-mode`, and queries about
 * permissions.
 */
import type { User } from '../../api/model/user.ts'
import type { Authorizer } from './authorizer.ts'
import type { Policy } from './rbac/policy.ts'
import type { PolicyRule } from './rbac/rule.ts'

/** Authorizes requests and explains the decisions. */
export interface Access {
  /** Authorizes the requests of clients. */
  readonly authorizer: Authorizer
  /** The roles and bindings in the store. They are available even if RBAC is not an authorization mode. */
  readonly policy: Policy
  /** Lists what a user may do in a namespace, for SelfSubjectRulesReviews. */
  rulesOf(user: User, namespace: string): Promise<ToldRules>
}

/** The rules of a user in a namespace, as far as the authorization modes can list them. */
export interface ToldRules {
  /** The user's rules, with one list per role. A list never changes, so that it can serve as a cache key. */
  readonly rules: readonly (readonly PolicyRule[])[]
  /** Whether the user may have permissions that are not listed. */
  readonly incomplete: boolean
  /** Reasons why the list is incomplete, and errors, one sentence each. */
  readonly notes: readonly string[]
}

/** An authorization mode: functions that authorize requests and that list the rules of a user. */
export interface Mode {
  readonly authorizer: Authorizer
  readonly rulesOf: (user: User, namespace: string) => ToldRules | Promise<ToldRules>
}

/** A set of rules that allow everything. */
export const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The rules of a user without permissions. */
export const noRules: ToldRules = { rules: [], incomplete: false, notes: [] }
/** The rules of a user with all permissions. */
export const allRules: ToldRules = { rules: [everything], incomplete: false, notes: [] }
