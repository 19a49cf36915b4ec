/**
 * OpenID Connect: verifies ID tokens with the keys of their issuers, without calling the provider for each token.
 * Verified tokens are cached by hash for a limited time. They are dropped earlier if the keys change or the token
 * expires.
 *
 * Only the configured algorithms are accepted, regardless of the token's header. Keys in a token are ignored. Tokens
 * from other issuers are ignored, because other strategies may accept them.
 */
import { hash } from 'node:crypto'
import type { CompactVerifyResult, errors as JoseErrors, LocalJWKSet } from 'jose'
import { parseJson } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { isObject, own } from '../../../api/json/json.ts'
import type { User } from '../../../api/model/user.ts'
import { type Answer, TtlCache } from '../../../base/collections/ttl-cache.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type AuthenticationOutcome, type Authenticator, none } from '../authenticator.ts'
import { bearerToken } from '../bearer.ts'
import { asClaims, BadClaims, endOf, isFor } from './claims.ts'
import type { OpenidProvider } from './provider.ts'

export interface IssuerParts {
  /** The value that the `iss` claim of a token must have. */
  readonly issuer: string
  readonly provider: OpenidProvider
  /** Accepted audiences. A token must have at least one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  /** Returns the user described by valid claims. Throws BadClaims. */
  readonly userOf: (claims: JsonObject) => User
  readonly clock: Clock
}

/** Maximum time, in milliseconds, to cache a verified token. */
const knownMs = 60_000

/** Authenticates with ID tokens of the issuers that `find` returns. Has no opinion about other tokens. */
export function idTokens(find: (issuer: string) => TokenIssuer | undefined): Authenticator {
  return ({ authorization }) => {
    const token = bearerToken(authorization)
    const issuer = token === undefined ? undefined : issuerOf(token)
    return (issuer === undefined ? undefined : find(issuer)?.authenticate(token!)) ?? none
  }
}

/** Verifies the ID tokens of one issuer. */
export class TokenIssuer {
  readonly #parts: IssuerParts
  #outcomeCache: TtlCache<AuthenticationOutcome>
  #cachedKeys: LocalJWKSet | undefined

  constructor(parts: IssuerParts) {
    this.#parts = parts
    this.#outcomeCache = new TtlCache(parts.clock)
  }

  authenticate(token: string): AuthenticationOutcome | Promise<AuthenticationOutcome> {
    const { keys } = this.#parts.provider
    // Drop the cached outcomes when the provider's keys change.
    if (keys !== this.#cachedKeys) this.#outcomeCache = new TtlCache(this.#parts.clock)
    this.#cachedKeys = keys
    return this.#outcomeCache.get(hash('sha256', token, 'base64'), () => judge(this.#parts, token))
  }
}

async function judge(parts: IssuerParts, token: string): Promise<Answer<AuthenticationOutcome>> {
  try {
    const claims = asClaims(strictly(await payloadOf(parts, token)))
    if (own(claims, 'iss') !== parts.issuer) throw new BadClaims('it is from another issuer')
    if (!parts.audiences.some((audience) => isFor(claims, audience)))
      throw new BadClaims('it is intended for another client')
    const now = parts.clock.now() / 1000
    const end = endOf(claims, now)
    const user = parts.userOf(claims)
    return { value: { result: 'user', user }, ttlMs: Math.min(knownMs, (end - now) * 1000) }
  } catch (error) {
    if (!(error instanceof BadClaims)) throw error
    return { value: { result: 'refused', why: `the ID token is invalid: ${error.message}` }, ttlMs: 0 }
  }
}

/** Returns the signed payload. If no key matches, fetches the keys again and retries once. */
async function payloadOf({ provider, algorithms }: IssuerParts, token: string): Promise<Uint8Array> {
  const first = await verify(token, provider.keys, algorithms)
  if (first !== undefined) return first
  const later = (await provider.refresh()) ? await verify(token, provider.keys, algorithms) : undefined
  if (later !== undefined) return later
  throw new BadClaims(
    provider.keys === undefined ? "its issuer's keys are not known yet" : "none of its issuer's keys signed it",
  )
}

async function verify(
  token: string,
  keys: LocalJWKSet | undefined,
  algorithms: readonly string[],
): Promise<Uint8Array | undefined> {
  if (keys === undefined) return undefined
  const { compactVerify, errors } = await import('jose')
  const options = { algorithms: [...algorithms] }
  const isFault = (error: unknown): error is JoseErrors.JOSEError => error instanceof errors.JOSEError
  try {
    return payloadIn(await compactVerify(token, keys, options))
  } catch (error) {
    if (!isFault(error)) throw error
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return undefined
    // Try all keys, because the token has no key ID.
    for await (const key of error) {
      const verified = await compactVerify(token, key, options).catch((fault: unknown) => {
        if (!isFault(fault)) throw fault
        return undefined
      })
      if (verified !== undefined) return payloadIn(verified)
    }
    return undefined
  }
}

/**
 * Returns the payload of a verified JWT. Returns undefined for an unencoded payload (RFC 7797), which JWTs must not
 * have.
 */
function payloadIn({ payload, protectedHeader }: CompactVerifyResult): Uint8Array | undefined {
  return protectedHeader.b64 === false ? undefined : payload
}

/** Parse strictly, because JSON parsers disagree about duplicate members. */
function strictly(payload: Uint8Array) {
  try {
    const { value, duplicates } = parseJson(Buffer.from(payload))
    if (duplicates.length === 0) return value
  } catch {
    // Do not include the parser's message, which quotes the token.
  }
  throw new BadClaims('cannot read its claims')
}

/** Reads the issuer of a token whose signature has not been verified. */
function issuerOf(token: string): string | undefined {
  const parts = token.split('.', 4)
  if (parts.length !== 3) return undefined
  try {
    const { value } = parseJson(Buffer.from(parts[1]!, 'base64url'))
    const issuer = isObject(value) ? own(value, 'iss') : undefined
    return typeof issuer === 'string' ? issuer : undefined
  } catch {
    return undefined
  }
}
