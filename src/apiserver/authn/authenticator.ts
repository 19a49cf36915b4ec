/**
 * Authentication: every strategy is a function that maps the credentials of a request to an outcome. Strategies are
 * tried in order until one of them authenticates the user. A request with invalid credentials never becomes anonymous.
 */
import type { X509Certificate } from 'node:crypto'
import { authenticated, type User } from '../../api/model/user.ts'
import type { Traced } from '../../base/telemetry/tracing/trace-context.ts'

/** The client certificate of a connection. */
export interface ShownCertificate {
  readonly x509: X509Certificate
  /** Intermediate certificates sent by the client. */
  readonly intermediates: readonly X509Certificate[]
  /** Whether TLS verified the certificate for client use when the connection was opened. */
  readonly trusted: boolean
}

/** Headers of a request, with names in lower case. */
export interface SentHeaders {
  /** Returns the value of a header, or undefined if it is absent. Throws an error if the header was sent twice. */
  one(name: string): string | undefined
  all(name: string): readonly string[]
  withPrefix(prefix: string): readonly { readonly name: string; readonly value: string }[]
}

/** An empty set of headers, for checking credentials outside of a request. */
export const noHeaders: SentHeaders = { one: () => undefined, all: () => [], withPrefix: () => [] }

export interface Credentials {
  readonly certificate: ShownCertificate | undefined
  /** Value of the Authorization header. Undefined if the request has no such header. */
  readonly authorization: string | undefined
  readonly headers: SentHeaders
  /** Path of the request. Undefined for credentials that do not come from a request. */
  readonly path?: string
  /** Identifies the connection, so that strategies can cache results across its requests. */
  readonly connection: object
  /**
   * Requested audiences of a token review. The token must be valid for at least one of them. Undefined in ordinary
   * requests, which use this server's audiences. Strategies whose tokens have no audience may ignore this field.
   */
  readonly audiences?: readonly string[]
  /** The trace of the request that carries the credentials. */
  readonly trace?: Traced
}

export interface KnownUser {
  readonly result: 'user'
  readonly user: User
  /**
   * The requested audiences for which the token is valid. Undefined if the token names no audience and is therefore
   * valid for this server.
   */
  readonly audiences?: readonly string[]
  /** A warning for the user about the credentials. */
  readonly warning?: string
}

/**
 * The outcome of an authentication strategy: a user, invalid credentials, or no credentials of the kind that the
 * strategy checks.
 */
export type AuthenticationOutcome =
  | KnownUser
  /** The credentials are invalid. */
  | { readonly result: 'refused'; readonly why?: string }
  /** The request has no credentials of this kind, so other strategies are tried. */
  | { readonly result: 'none' }

/** An authentication strategy: a function that maps the credentials of a request to an outcome. */
export type Authenticator = (credentials: Credentials) => AuthenticationOutcome | Promise<AuthenticationOutcome>

/** The outcome for a request without the kind of credentials that the strategy checks. */
export const none: AuthenticationOutcome = { result: 'none' }
/** The outcome for invalid credentials, without a reason. */
export const refused: AuthenticationOutcome = { result: 'refused' }

/**
 * Tries the strategies in order, and then `anonymous` if no strategy found credentials. The result is synchronous if
 * the results of these strategies are. If several strategies reject the request, the first rejection with a reason is
 * reported.
 */
export function firstOf(strategies: readonly Authenticator[], anonymous?: Authenticator): Authenticator {
  const known = authenticatedOutcomes()
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
    return soFar.result === 'none' && anonymous !== undefined ? anonymous(credentials) : soFar
  }
  return (credentials) => ask(credentials, 0, none)
}

/**
 * Combines two outcomes without a user. A rejection takes precedence, and the first rejection with a reason is
 * reported.
 */
function together(one: AuthenticationOutcome, other: AuthenticationOutcome): AuthenticationOutcome {
  if (other.result !== 'refused') return one
  return one.result === 'refused' && one.why !== undefined ? one : other
}

/**
 * Returns a function that adds the group of authenticated users to a successful outcome. Results are cached per User
 * object.
 */
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
