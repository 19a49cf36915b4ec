/**
 * What a server knows about permissions: the modes of `--authorization-mode` as one authorizer, and what may be asked
 * about them besides.
 */
import type { User } from '../../api/model/user.ts'
import type { Authorizer } from './authorizer.ts'
import type { Policy } from './rbac/policy.ts'
import type { PolicyRule } from './rbac/rule.ts'

/** What decides on requests, and what explains the decisions. */
export interface Access {
  /** Decides on requests. */
  readonly authorizer: Authorizer
  /** The rights that roles and bindings give, whether or not RBAC is among the modes. */
  readonly policy: Policy
  /** What the user may do in a namespace, as far as that can be told. */
  rulesOf(user: User, namespace: string): Promise<ToldRules>
}

/** The rules of a user in a namespace, as far as they can be listed. */
export interface ToldRules {
  /** A list for each role; what is made of a list may be remembered, as lists never change. */
  readonly rules: readonly (readonly PolicyRule[])[]
  /** Whether there may be more than these. */
  readonly incomplete: boolean
  /** What went wrong, or why they are incomplete; each a sentence. */
  readonly notes: readonly string[]
}

/** One mode: how it decides, and what it can tell of its rules. */
export interface Mode {
  readonly authorizer: Authorizer
  readonly rulesOf: (user: User, namespace: string) => ToldRules | Promise<ToldRules>
}

/** The rule that allows everything. */
export const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The list of a user who may do nothing. */
export const noRules: ToldRules = { rules: [], incomplete: false, notes: [] }
/** The list of a user who may do everything. */
export const allRules: ToldRules = { rules: [everything], incomplete: false, notes: [] }
