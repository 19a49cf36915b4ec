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
  /** Permissions granted by roles and bindings, even if RBAC is not enabled. */
  readonly policy: Policy
  /** Returns the rules of a user in a namespace, for rules reviews. */
  rulesOf(user: User, namespace: string): Promise<ToldRules>
}

/** The rules of a user in a namespace, for rules reviews. */
export interface ToldRules {
  /** The rules of the user, one list per role. Lists are immutable, so results derived from them may be cached. */
  readonly rules: readonly (readonly PolicyRule[])[]
  /** Whether rules of the user may be missing from the list. */
  readonly incomplete: boolean
  /** Errors and reasons for an incomplete list, one sentence each. */
  readonly notes: readonly string[]
}

/** An authorization mode, which consists of its authorizer and its rules. */
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
