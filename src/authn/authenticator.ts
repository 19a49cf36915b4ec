/**
 * Who asks: every strategy is a function from the credentials of a request to an outcome. They are tried in order;
 * the first that knows the user ends it, and wrong credentials are never turned into an anonymous user.
 */
import type { X509Certificate } from 'node:crypto'
import { authenticated, type User } from '../model/user.ts'

export interface Credentials {
  readonly certificate: { readonly x509: X509Certificate; readonly trusted: boolean } | undefined
  /** The Authorization header. */
  readonly authorization: string | undefined
  /** Identifies the connection, so that a strategy can remember what it learned from an earlier request on it. */
  readonly connection: object
}

export type AuthenticationOutcome =
  | { readonly result: 'user'; readonly user: User }
  /** Credentials of this strategy's kind were sent and are wrong. */
  | { readonly result: 'refused' }
  /** Nothing for this strategy to judge. */
  | { readonly result: 'none' }

export type Authenticator = (credentials: Credentials) => AuthenticationOutcome | Promise<AuthenticationOutcome>

export const none: AuthenticationOutcome = { result: 'none' }
export const refused: AuthenticationOutcome = { result: 'refused' }

/**
 * The strategies in order; `anonymous` is who asks when none of them had anything to judge, if anybody. Stays
 * synchronous for as long as the strategies do.
 */
export function firstOf(strategies: readonly Authenticator[], anonymous: User | undefined): Authenticator {
  const known = authenticatedOutcomes()
  const nobody: AuthenticationOutcome = anonymous === undefined ? none : { result: 'user', user: anonymous }
  const ask = (
    credentials: Credentials,
    from: number,
    wrong: boolean,
  ): AuthenticationOutcome | Promise<AuthenticationOutcome> => {
    let refusals = wrong
    for (let i = from; i < strategies.length; i++) {
      const outcome = strategies[i]!(credentials)
      if (outcome instanceof Promise) {
        const before = refusals
        return outcome.then((later) =>
          later.result === 'user' ? known(later.user) : ask(credentials, i + 1, before || later.result === 'refused'),
        )
      }
      if (outcome.result === 'user') return known(outcome.user)
      refusals ||= outcome.result === 'refused'
    }
    return refusals ? refused : nobody
  }
  return (credentials) => ask(credentials, 0, false)
}

/** Strategies mostly give the same user again: the outcome is made once per user, not once per request. */
function authenticatedOutcomes(): (user: User) => AuthenticationOutcome {
  const outcomes = new WeakMap<User, AuthenticationOutcome>()
  return (user) => {
    const before = outcomes.get(user)
    if (before !== undefined) return before
    const outcome: AuthenticationOutcome = { result: 'user', user: authenticated(user) }
    outcomes.set(user, outcome)
    return outcome
  }
}

export const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
}
