/**
 * The user that an ID token names, by the claims that the flags choose. Errors describe a fault and never quote the
 * token.
 */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import type { User } from '../../../api/model/user.ts'

export interface ClaimRules {
  readonly issuer: string
  readonly usernameClaim: string
  /** '' for the default prefix, '-' for none. */
  readonly usernamePrefix: string
  /** '' for no groups. */
  readonly groupsClaim: string
  readonly groupsPrefix: string
  /** Claims that must be there with exactly this text. */
  readonly requiredClaims: ReadonlyMap<string, string>
}

/** The claims cannot be used. */
export class BadClaims extends Error {
  override readonly name = 'BadClaims'
}

/** Throws BadClaims. */
export function userIn(claims: JsonObject, rules: ClaimRules): User {
  for (const [claim, text] of rules.requiredClaims)
    if (own(claims, claim) !== text) throw new BadClaims(`the required claim ${claim} is not as it must be`)
  return {
    name: `${usernamePrefix(rules)}${usernameIn(claims, rules.usernameClaim)}`,
    uid: '',
    groups: groupsIn(claims, rules).map((group) => `${rules.groupsPrefix}${group}`),
    extra: new Map(),
  }
}

/** Names of one issuer must not be taken for those of another; addresses are the same everywhere. */
function usernamePrefix({ usernamePrefix, usernameClaim, issuer }: ClaimRules): string {
  if (usernamePrefix === '-') return ''
  return usernamePrefix === '' && usernameClaim !== 'email' ? `${issuer}#` : usernamePrefix
}

function usernameIn(claims: JsonObject, claim: string): string {
  const name = own(claims, claim)
  if (typeof name !== 'string' || name === '') throw new BadClaims(`the claim ${claim} is not a name`)
  const verified = own(claims, 'email_verified')
  if (claim === 'email' && verified !== undefined && verified !== true)
    throw new BadClaims('the address is not verified')
  return name
}

/** A list of texts, or one text; where the claim is absent or null there are none. */
function groupsIn(claims: JsonObject, { groupsClaim }: ClaimRules): string[] {
  const groups = groupsClaim === '' ? undefined : own(claims, groupsClaim)
  if (groups === undefined || groups === null) return []
  if (typeof groups === 'string') return [groups]
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string'))
    throw new BadClaims(`the claim ${groupsClaim} is not a list of groups`)
  return groups
}

const leewaySeconds = 60
/** The end of the year 9999. */
const lastSecond = 253_402_300_799

/**
 * Whether the times of a token let it count now. `exp` and `iat` must be there; clocks may differ by a minute where a
 * token is young, but it never counts for longer than it says. Returns when it ends, in seconds. Throws BadClaims.
 */
export function endOf(claims: JsonObject, nowSeconds: number): number {
  const [exp, iat] = [timeIn(claims, 'exp'), timeIn(claims, 'iat')]
  const nbf = own(claims, 'nbf') === undefined ? iat : timeIn(claims, 'nbf')
  if (nowSeconds >= exp) throw new BadClaims('it has expired')
  if (iat > nowSeconds + leewaySeconds) throw new BadClaims('it was issued in the future')
  if (nbf > nowSeconds + leewaySeconds) throw new BadClaims('it is not valid yet')
  return exp
}

function timeIn(claims: JsonObject, claim: string): number {
  const time = own(claims, claim)
  if (!isTime(time)) throw new BadClaims(`the claim ${claim} is not a time`)
  return time
}

function isTime(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= lastSecond
}

/** Whether a token names this client as its audience. */
export function isFor(claims: JsonObject, client: string): boolean {
  const audience = own(claims, 'aud')
  return audience === client || (Array.isArray(audience) && audience.includes(client))
}

export function asClaims(value: Json): JsonObject {
  if (!isObject(value)) throw new BadClaims('it holds no claims')
  return value
}
