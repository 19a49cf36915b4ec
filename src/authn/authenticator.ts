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
}

export type Outcome =
  | { readonly result: 'user'; readonly user: User }
  /** Credentials of this strategy's kind were sent and are wrong. */
  | { readonly result: 'refused' }
  /** Nothing for this strategy to judge. */
  | { readonly result: 'none' }

export type Authenticator = (credentials: Credentials) => Outcome | Promise<Outcome>

export const none: Outcome = { result: 'none' }
export const refused: Outcome = { result: 'refused' }

/** The strategies in order; `anonymous` is who asks when none of them had anything to judge. */
export function firstOf(strategies: readonly Authenticator[], anonymous: User | undefined): Authenticator {
  return async (credentials) => {
    let wrong = false
    for (const strategy of strategies) {
      const outcome = await strategy(credentials)
      if (outcome.result === 'user') return { result: 'user', user: authenticated(outcome.user) }
      wrong ||= outcome.result === 'refused'
    }
    if (wrong || anonymous === undefined) return refused
    return { result: 'user', user: anonymous }
  }
}

export const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
}
