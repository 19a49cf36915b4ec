/**
 * Maps the claims of an ID token to a user, as configured by flags. Errors describe the problem and never quote the
 * token.
 */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import type { User } from '../../../api/model/user.ts'

export interface ClaimRules {
  readonly issuer: string
  readonly usernameClaim: string
  /** Prefix to add to user names. '' selects the default prefix, and '-' selects none. */
  readonly usernamePrefix: string
  /** Name of the claim that lists the user's groups. '' means that tokens grant no groups. */
  readonly groupsClaim: string
  readonly groupsPrefix: string
  /** Claims that must be present with exactly this value. */
  readonly requiredClaims: ReadonlyMap<string, string>
}

/** Thrown if the claims of a token are invalid. */
export class BadClaims extends Error {
  override readonly name = 'BadClaims'
}

/** Maps the claims of a token to a user. Throws BadClaims. */
export function userIn(claims: JsonObject, rules: ClaimRules): User {
  for (const [claim, text] of rules.requiredClaims)
    if (own(claims, claim) !== text) throw new BadClaims(`the required claim ${claim} does not have the required value`)
  return {
    name: `${usernamePrefix(rules)}${usernameIn(claims, rules.usernameClaim)}`,
    uid: '',
    groups: groupsIn(claims, rules.groupsClaim).map((group) => `${rules.groupsPrefix}${group}`),
    extra: new Map(),
  }
}

/**
 * By default, prefix user names with the issuer, so that one issuer cannot impersonate the users of another. Email
 * addresses need no prefix.
 */
function usernamePrefix({ usernamePrefix, usernameClaim, issuer }: ClaimRules): string {
  if (usernamePrefix === '-') return ''
  return usernamePrefix === '' && usernameClaim !== 'email' ? `${issuer}#` : usernamePrefix
}

/** Returns the user name in a claim. Throws BadClaims. */
export function usernameIn(claims: JsonObject, claim: string): string {
  const name = own(claims, claim)
  if (typeof name !== 'string' || name === '') throw new BadClaims(`the claim ${claim} is not a name`)
  const verified = own(claims, 'email_verified')
  if (claim === 'email' && verified !== undefined && verified !== true)
    throw new BadClaims('the address is not verified')
  return name
}

/**
 * Returns the groups in a claim, which is a list of strings or a single string. Returns an empty list if the claim is
 * absent or null. Throws BadClaims.
 */
export function groupsIn(claims: JsonObject, groupsClaim: string): string[] {
  const groups = groupsClaim === '' ? undefined : own(claims, groupsClaim)
  if (groups === undefined || groups === null) return []
  if (typeof groups === 'string') return [groups]
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string'))
    throw new BadClaims(`the claim ${groupsClaim} is not a list of groups`)
  return groups
}

const leewaySeconds = 60
/** Maximum value of a time claim: the end of the year 9999. */
const lastSecond = 253_402_300_799

/**
 * Validates the times of a token. `exp` and `iat` are required. A clock skew of one minute is allowed for `iat` and
 * `nbf` but not for `exp`. Returns the expiry in seconds. Throws BadClaims.
 */
export function endOf(claims: JsonObject, nowSeconds: number): number {
  const exp = timeIn(claims, 'exp')
  const iat = timeIn(claims, 'iat')
  const nbf = own(claims, 'nbf') === undefined ? iat : timeIn(claims, 'nbf')
  if (nowSeconds >= exp) throw new BadClaims('it has expired')
  if (iat > nowSeconds + leewaySeconds) throw new BadClaims('it was issued in the future')
  if (nbf > nowSeconds + leewaySeconds) throw new BadClaims('it is not valid yet')
  return exp
}

function timeIn(claims: JsonObject, claim: string): number {
  const time = own(claims, claim)
  if (!isTime(time)) throw new BadClaims(`the claim ${claim} is not a valid time`)
  return time
}

function isTime(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= lastSecond
}

/** Whether the token's audiences include this client. */
export function isFor(claims: JsonObject, client: string): boolean {
  const audience = own(claims, 'aud')
  return audience === client || (Array.isArray(audience) && audience.includes(client))
}

export function asClaims(value: Json): JsonObject {
  if (!isObject(value)) throw new BadClaims('it contains no claims')
  return value
}
