/**
 * Service account tokens: a bearer token signed by this cluster authenticates a service account. The signature of a
 * token is verified once. The token's validity period and the existence of its account, pod and Secret are checked on
 * every request.
 */

import { serviceAccountGroups, serviceAccountName, type User } from '../../../api/model/user.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Gates } from '../../../api/versions/feature-gates.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type AuthenticationOutcome, type Authenticator, type KnownUser, none, refused } from '../authenticator.ts'
import { bearerToken } from '../bearer.ts'
import type { StalenessBound } from '../staleness-bound.ts'
import type { TokenClaims } from './claims.ts'
import type { LegacyTokenTracker } from './legacy-token-tracker.ts'
import type { Signatures, SignedToken } from './signatures.ts'
import type { TokenDependencies } from './token-dependencies.ts'
import type { TokenMetrics } from './token-metrics.ts'

export interface ServiceAccountParts {
  readonly vendor: Vendor
  readonly clock: Clock
  readonly signatures: Signatures
  readonly holders: TokenDependencies
  readonly recency: StalenessBound
  /** Audiences that tokens in requests may have. */
  readonly audiences: readonly string[]
  readonly metrics: TokenMetrics
  /** Records the use of legacy tokens. Undefined if their use is not tracked. */
  readonly tracker: LegacyTokenTracker | undefined
  /** The enabled feature gates. */
  readonly gates: Gates
}

type Outcome = AuthenticationOutcome | Promise<AuthenticationOutcome>

/** Tolerated clock skew between servers, in milliseconds. */
const skewMs = 60_000

/** Authenticates with service account tokens. */
export function serviceAccountTokens(parts: ServiceAccountParts): Authenticator {
  const judge = judgeOf(parts)
  const tokensByConnection = new WeakMap<object, CachedToken>()
  return ({ authorization, connection, audiences }) => {
    if (authorization === undefined) return none
    // This connection has already sent the same header, so the token need not be parsed and verified again.
    const before = tokensByConnection.get(connection)
    if (before?.authorization === authorization)
      return before.token === 'foreign' ? none : judge(before.token, audiences)
    const text = bearerToken(authorization)
    if (text === undefined) return none
    const settle = (token: SignedToken | 'foreign' | undefined): Outcome => {
      if (token === undefined) return refused
      tokensByConnection.set(connection, { authorization, token })
      return token === 'foreign' ? none : judge(token, audiences)
    }
    const verified = parts.signatures.verify(text)
    return verified instanceof Promise ? verified.then(settle) : settle(verified)
  }
}

interface CachedToken {
  readonly authorization: string
  readonly token: SignedToken | 'foreign'
}

function judgeOf(parts: ServiceAccountParts) {
  const { vendor, clock, holders, recency, audiences: own, metrics, tracker, gates } = parts
  const users = new WeakMap<SignedToken, KnownUser>()
  const userOf = (token: SignedToken) => {
    const before = users.get(token)
    if (before !== undefined) return before
    const outcome: KnownUser = { result: 'user', user: accountUser(token.claims, { vendor, gates }) }
    users.set(token, outcome)
    return outcome
  }
  return (token: SignedToken, requestedAudiences: readonly string[] | undefined): Outcome => {
    const { claims } = token
    const now = clock.now()
    if (now >= claims.validUntil || now < claims.validFrom - skewMs) return refused
    const meant = meantFor(claims, requestedAudiences ?? own, own)
    if (meant.length === 0) return refusedTo(claims, requestedAudiences ?? own)
    const answer = (stands: boolean): AuthenticationOutcome => {
      if (!stands) return refused
      metrics.count(claims, now)
      tracker?.record(claims)
      const outcome = userOf(token)
      return requestedAudiences === undefined ? outcome : { ...outcome, audiences: meant }
    }
    const stands = recency.decide(() => holders.exist(token))
    return typeof stands === 'boolean' ? answer(stands) : stands.then(answer)
  }
}

/** Returns the requested audiences that the token is valid for. A token without audiences is valid for this server. */
function meantFor({ audiences }: TokenClaims, requestedAudiences: readonly string[], own: readonly string[]): string[] {
  const named = audiences.length === 0 ? own : audiences
  return requestedAudiences.filter((audience) => named.includes(audience))
}

function refusedTo({ audiences }: TokenClaims, requestedAudiences: readonly string[]): AuthenticationOutcome {
  const list = (names: readonly string[]) => names.slice(0, 10).map((name) => JSON.stringify(name.slice(0, 200)))
  const named = list(audiences).join(' ')
  const target = list(requestedAudiences).join(' ')
  return { result: 'refused', why: `token audiences [${named}] is invalid for the target audiences [${target}]` }
}

/**
 * Returns the user of a service account token. Its extra attributes name the token and the objects that it is bound to.
 */
function accountUser(
  { namespace, account, pod, node, id }: TokenClaims,
  { vendor, gates }: { readonly vendor: Vendor; readonly gates: Gates },
): User {
  const key = (name: string) => vendorKey(vendor, name, 'authentication')
  const showsNode = gates.has(pod === undefined ? 'ServiceAccountTokenNodeBinding' : 'ServiceAccountTokenPodNodeInfo')
  const extra = new Map<string, readonly string[]>()
  if (pod !== undefined) {
    extra.set(key('pod-name'), [pod.name])
    extra.set(key('pod-uid'), [pod.uid ?? ''])
  }
  if (node !== undefined && showsNode) {
    extra.set(key('node-name'), [node.name])
    if (node.uid !== undefined) extra.set(key('node-uid'), [node.uid])
  }
  if (id !== undefined && gates.has('ServiceAccountTokenJTI')) extra.set(key('credential-id'), [`JTI=${id}`])
  const name = serviceAccountName(namespace, account.name)
  return { name, uid: account.uid ?? '', groups: serviceAccountGroups(namespace), extra }
}
