/**
 * Authentication: every strategy is a function from the credentials of a request to an outcome. They are tried in
 * order; the first that knows the user ends it, and wrong credentials are never turned into an anonymous user.
 */
import type { X509Certificate } from 'node:crypto'
import { authenticated, type User } from '../../api/model/user.ts'
import type { Traced } from '../../base/telemetry/tracing/trace-context.ts'

/** The certificate that a client showed when it connected. */
export interface ShownCertificate {
  readonly x509: X509Certificate
  /** The certificates that came with it, as they were sent. */
  readonly sent: readonly X509Certificate[]
  /** Whether TLS found it in order, for a client, at that time and by the authorities of that time. */
  readonly trusted: boolean
}

/** The headers of a request; names in lower case. */
export interface SentHeaders {
  /** The only value of a header; undefined when it is not there. Throws where it was sent twice. */
  one(name: string): string | undefined
  all(name: string): readonly string[]
  withPrefix(prefix: string): readonly { readonly name: string; readonly value: string }[]
}

/** Of something that is not a request. */
export const noHeaders: SentHeaders = { one: () => undefined, all: () => [], withPrefix: () => [] }

export interface Credentials {
  readonly certificate: ShownCertificate | undefined
  /** The Authorization header. */
  readonly authorization: string | undefined
  readonly headers: SentHeaders
  /** Identifies the connection, so that a strategy can remember what it learned from an earlier request on it. */
  readonly connection: object
  /**
   * For a review of a token: audiences of which it must name at least one. Absent: this server, as in every
   * request. A strategy whose tokens name nobody need not look at it.
   */
  readonly audiences?: readonly string[]
  /** The request that they came with. */
  readonly trace?: Traced
}

export interface KnownUser {
  readonly result: 'user'
  readonly user: User
  /**
   * Those of the audiences in question that the token names; absent: it names none, so it is for this server.
   */
  readonly audiences?: readonly string[]
  /** What the user should know of the credentials. */
  readonly warning?: string
}

/** The user, a refusal, or no opinion. */
export type AuthenticationOutcome =
  | KnownUser
  /** Credentials of this strategy's kind were sent and are wrong. */
  | { readonly result: 'refused'; readonly why?: string }
  /** Nothing for this strategy to judge. */
  | { readonly result: 'none' }

/** One way to authenticate a request. */
export type Authenticator = (credentials: Credentials) => AuthenticationOutcome | Promise<AuthenticationOutcome>

/** Nothing to judge. */
export const none: AuthenticationOutcome = { result: 'none' }
/** Wrong credentials. */
export const refused: AuthenticationOutcome = { result: 'refused' }

/**
 * The strategies in order; `anonymous` is the user of a request that none of them can judge, if there is one. Stays
 * synchronous for as long as the strategies do. Of several that refuse, the first that says why is quoted.
 */
export function firstOf(strategies: readonly Authenticator[], anonymous: User | undefined): Authenticator {
  const known = authenticatedOutcomes()
  const nobody: AuthenticationOutcome = anonymous === undefined ? none : { result: 'user', user: anonymous }
  const ask = (
    credentials: Credentials,
    from: number,
    before: AuthenticationOutcome,
  ): AuthenticationOutcome | Promise<AuthenticationOutcome> => {
    let soFar = before
    for (let i = from; i < strategies.length; i++) {
      const outcome = strategies[i]!(credentials)
      if (outcome instanceof Promise) {
        const earlier = soFar
        return outcome.then((later) =>
          later.result === 'user' ? known(later) : ask(credentials, i + 1, together(earlier, later)),
        )
      }
      if (outcome.result === 'user') return known(outcome)
      soFar = together(soFar, outcome)
    }
    return soFar.result === 'none' ? nobody : soFar
  }
  return (credentials) => ask(credentials, 0, none)
}

/** What two strategies have found that know no user. */
function together(one: AuthenticationOutcome, other: AuthenticationOutcome): AuthenticationOutcome {
  if (other.result !== 'refused') return one
  return one.result === 'refused' && one.why !== undefined ? one : other
}

/** Strategies mostly give the same user again: the outcome is made once per user, not once per request. */
function authenticatedOutcomes(): (known: KnownUser) => AuthenticationOutcome {
  const outcomes = new WeakMap<User, KnownUser>()
  return ({ user, audiences, warning }) => {
    if (audiences !== undefined) return { result: 'user', user: authenticated(user), audiences }
    const known = outcomes.get(user)
    const outcome: KnownUser = known ?? { result: 'user', user: authenticated(user) }
    if (known === undefined) outcomes.set(user, outcome)
    return warning === undefined ? outcome : { ...outcome, warning }
  }
}

/** The user of a request without credentials, where anonymous requests are allowed. */
export const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
}
