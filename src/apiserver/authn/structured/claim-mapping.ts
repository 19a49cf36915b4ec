/** Maps the claims of a token to a user, as configured for its issuer in the AuthenticationConfiguration. */
import { type JsonObject, own } from '../../../api/json/json.ts'
import type { FieldPath } from '../../../api/model/field-error.ts'
import type { User } from '../../../api/model/user.ts'
import { BadClaims, groupsIn, usernameIn } from '../openid-connect/claims.ts'
import type { JwtConfiguration } from './authentication-configuration.ts'
import { type Compiling, compileCondition, compileText, compileTexts, type Expression } from './claim-expressions.ts'

/** Compiles the rules and mappings of an issuer. Throws ConfigurationFault. The returned function throws BadClaims. */
export function compileClaimMapping(
  configuration: JwtConfiguration,
  path: FieldPath,
  compiling: Compiling,
): (claims: JsonObject) => User {
  const checkClaims = claimRules(configuration, `${path}.claimValidationRules`, compiling)
  const toUser = userMapping(configuration.claimMappings ?? {}, `${path}.claimMappings`, compiling)
  const checkUser = userRules(configuration, `${path}.userValidationRules`, compiling)
  return (claims) => {
    checkClaims(claims)
    const user = toUser(claims)
    checkUser(user)
    return user
  }
}

type Mappings = NonNullable<JwtConfiguration['claimMappings']>

function claimRules(
  { claimValidationRules = [] }: JwtConfiguration,
  path: FieldPath,
  compiling: Compiling,
): (claims: JsonObject) => void {
  const rules = claimValidationRules.map((rule, i): ((claims: JsonObject) => void) => {
    const { claim = '', requiredValue = '', expression = '', message = '' } = rule
    if (claim !== '') return (claims) => assertValue(claims, claim, requiredValue)
    const place = `${path}[${i}].expression`
    const holds = compileCondition({ source: expression, path: place, variable: 'claims' }, compiling)
    return (claims) => {
      if (!holds(claims)) throw new BadClaims(message || `the rule ${place} is not met`)
    }
  })
  return (claims) => {
    for (const check of rules) check(claims)
  }
}

function assertValue(claims: JsonObject, claim: string, required: string): void {
  if (own(claims, claim) !== required)
    throw new BadClaims(`the required claim ${claim} does not have the required value`)
}

function userMapping(
  { username = {}, groups = {}, uid = {}, extra = [] }: Mappings,
  path: FieldPath,
  compiling: Compiling,
): (claims: JsonObject) => User {
  const nameOf = usernameMapping(username, `${path}.username.expression`, compiling)
  const groupsOf = groupsMapping(groups, `${path}.groups.expression`, compiling)
  const uidOf = uidMapping(uid, `${path}.uid.expression`, compiling)
  const extras = extra.map(({ key = '', valueExpression: source = '' }, i) => ({
    key,
    valuesOf: compileTexts({ source, path: `${path}.extra[${i}].valueExpression`, variable: 'claims' }, compiling),
  }))
  return (claims) => {
    const name = nameOf(claims)
    if (name === '') throw new BadClaims('the user name is empty')
    const entries = extras.map(({ key, valuesOf }) => [key, valuesOf(claims)] as const)
    return {
      name,
      uid: uidOf(claims),
      groups: groupsOf(claims),
      extra: new Map(entries.filter(([, values]) => values.length > 0)),
    }
  }
}

function usernameMapping(
  { claim = '', prefix = '', expression = '' }: NonNullable<Mappings['username']>,
  path: FieldPath,
  compiling: Compiling,
): Expression<string> {
  if (expression !== '') return compileText({ source: expression, path, variable: 'claims' }, compiling)
  return (claims) => `${prefix}${usernameIn(claims, claim)}`
}

function groupsMapping(
  { claim = '', prefix = '', expression = '' }: NonNullable<Mappings['groups']>,
  path: FieldPath,
  compiling: Compiling,
): Expression<string[]> {
  if (expression !== '') return compileTexts({ source: expression, path, variable: 'claims' }, compiling)
  return (claims) => groupsIn(claims, claim).map((group) => `${prefix}${group}`)
}

function uidMapping(
  { claim = '', expression = '' }: NonNullable<Mappings['uid']>,
  path: FieldPath,
  compiling: Compiling,
): Expression<string> {
  if (expression !== '') return compileText({ source: expression, path, variable: 'claims' }, compiling)
  return (claims) => {
    const uid = claim === '' ? '' : own(claims, claim)
    if (typeof uid !== 'string') throw new BadClaims(`the claim ${claim} is not text`)
    return uid
  }
}

function userRules(
  { userValidationRules = [] }: JwtConfiguration,
  path: FieldPath,
  compiling: Compiling,
): (user: User) => void {
  const rules = userValidationRules.map(({ expression: source = '', message = '' }, i) => {
    const place = `${path}[${i}].expression`
    return {
      holds: compileCondition({ source, path: place, variable: 'user' }, compiling),
      message: message || `the rule ${place} is not met`,
    }
  })
  return (user) => {
    const { name: username, uid, groups, extra } = user
    const lists = Object.fromEntries([...extra].map(([key, values]) => [key, [...values]]))
    const value: JsonObject = { username, uid, groups: [...groups], extra: lists }
    for (const { holds, message } of rules) if (!holds(value)) throw new BadClaims(message)
  }
}
