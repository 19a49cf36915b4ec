/**
 * OpenID Connect: ID tokens of one issuer, verified by its keys. The provider is not asked for each: a token that was
 * verified is known for a while by its hash, for as long as the keys are the same, and ends when it says that it does.
 *
 * The algorithms are those of the configuration, whatever the token says, and keys that a token brings along or points
 * to do not count. A token of another issuer is none of ours.
 */
import { hash } from 'node:crypto'
import type { CompactVerifyResult, errors as JoseErrors, LocalJWKSet } from 'jose'
import { parseJson } from '../../../api/codec/json.ts'
import { isObject, own } from '../../../api/json/json.ts'
import { type Answer, TtlCache } from '../../../base/collections/ttl-cache.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type AuthenticationOutcome, type Authenticator, none } from '../authenticator.ts'
import { bearerToken } from '../bearer.ts'
import { asClaims, BadClaims, type ClaimRules, endOf, isFor, userIn } from './claims.ts'
import type { OpenidProvider } from './provider.ts'

export interface IdTokenParts {
  readonly provider: OpenidProvider
  readonly clientId: string
  readonly algorithms: readonly string[]
  readonly rules: ClaimRules
  readonly clock: Clock
}

/** How long a verified token is known at most. */
const knownMs = 60_000

/** Authenticates by ID tokens of an OpenID Connect provider. */
export function idTokens(parts: IdTokenParts): Authenticator {
  let known = new TtlCache<AuthenticationOutcome>(parts.clock)
  let knownBy: LocalJWKSet | undefined
  return ({ authorization }) => {
    const token = bearerToken(authorization)
    if (token === undefined || issuerOf(token) !== parts.rules.issuer) return none
    const { keys } = parts.provider
    // By other keys another token may be right.
    if (keys !== knownBy) known = new TtlCache(parts.clock)
    knownBy = keys
    return known.get(hash('sha256', token, 'base64'), () => judge(parts, token))
  }
}

async function judge(parts: IdTokenParts, token: string): Promise<Answer<AuthenticationOutcome>> {
  try {
    const claims = asClaims(strictly(await payloadOf(parts, token)))
    if (own(claims, 'iss') !== parts.rules.issuer) throw new BadClaims('it is of another issuer')
    if (!isFor(claims, parts.clientId)) throw new BadClaims('it is meant for another client')
    const now = parts.clock.now() / 1000
    const end = endOf(claims, now)
    const user = userIn(claims, parts.rules)
    return { value: { result: 'user', user }, ttlMs: Math.min(knownMs, (end - now) * 1000) }
  } catch (error) {
    if (!(error instanceof BadClaims)) throw error
    return { value: { result: 'refused', why: `the ID token does not count: ${error.message}` }, ttlMs: 0 }
  }
}

/** What was signed. Where no key fits, the keys may have changed: then they are fetched once more. */
async function payloadOf({ provider, algorithms }: IdTokenParts, token: string): Promise<Uint8Array> {
  const first = await verify(token, provider.keys, algorithms)
  if (first !== undefined) return first
  const later = (await provider.refresh()) ? await verify(token, provider.keys, algorithms) : undefined
  if (later !== undefined) return later
  throw new BadClaims(
    provider.keys === undefined ? 'the keys of its issuer are not known yet' : 'no key of its issuer has signed it',
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
    // It does not say by which: any may do.
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

/** A payload that is not encoded is of no JWT. */
function payloadIn({ payload, protectedHeader }: CompactVerifyResult): Uint8Array | undefined {
  return protectedHeader.b64 === false ? undefined : payload
}

/** Read as a body is: what occurs twice could be read in two ways. */
function strictly(payload: Uint8Array) {
  try {
    const { value, duplicates } = parseJson(Buffer.from(payload))
    if (duplicates.length === 0) return value
  } catch {
    // The error quotes what it read.
  }
  throw new BadClaims('its claims cannot be read')
}

/** The issuer that a token names, before it is verified. */
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
