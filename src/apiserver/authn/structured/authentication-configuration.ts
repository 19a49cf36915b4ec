/**
 * The `--authentication-config` file, which contains an AuthenticationConfiguration in the format of kube-apiserver. It
 * lists the issuers whose JSON Web Tokens are accepted, the mapping of their claims to users, and the paths that accept
 * anonymous requests. The caller compiles the expressions.
 */
import { X509Certificate } from 'node:crypto'
import type { Json } from '../../../api/json/json.ts'
import type { FieldPath } from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { ConfigurationFault, readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, type Infer, type InferFields, s } from '../../../api/schema/schema.ts'
import { type Emulation, isAvailable } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'

/** Maximum number of issuers, and maximum number of rules and extra attributes per issuer. */
const maxEntries = 64

const issuer = s.object({
  url: field(1, s.string(), { doc: 'HTTPS URL of the issuer. Must equal the claim `iss` in the tokens.' }),
  discoveryURL: field(2, s.string(), {
    doc: 'URL of the discovery document. Defaults to the well-known path below `url`.',
  }),
  certificateAuthority: field(3, s.string(), {
    doc: "PEM bundle of CA certificates for verifying the issuer's certificate.",
  }),
  audiences: field(4, s.list(s.string()), { doc: 'Accepted audiences. A token must contain at least one of them.' }),
  audienceMatchPolicy: field(5, s.string(), {
    doc: 'How to match audiences. The only value is `MatchAny`, which is required if there are several audiences.',
  }),
  egressSelectorType: field(6, s.string(), {
    doc: 'Egress network for connections to the issuer. Not supported: only the default value is accepted.',
  }),
})
const validationRule = s.object({
  claim: field(1, s.string(), { doc: 'Claim that must have the required value.' }),
  requiredValue: field(2, s.string(), { doc: 'Required value of the claim.' }),
  expression: field(3, s.string(), { doc: 'CEL expression over `claims` that must be true.' }),
  message: field(4, s.string(), { doc: 'Error message if the expression is false.' }),
})
const prefixedClaim = s.object({
  claim: field(1, s.string(), { doc: 'Claim that contains the value.' }),
  prefix: field(2, s.string(), { zeroValue: 'keep', doc: 'Prefix of the value. Required with `claim`.' }),
  expression: field(3, s.string(), { doc: 'CEL expression over `claims` that returns the value.' }),
})
const claimOrExpression = s.object({
  claim: field(1, s.string(), { doc: 'Claim that contains the value.' }),
  expression: field(2, s.string(), { doc: 'CEL expression over `claims` that returns the value.' }),
})
const extraMapping = s.object({
  key: field(1, s.string(), { doc: 'Key of the extra attribute: a domain and a path, in lower case.' }),
  valueExpression: field(2, s.string(), {
    doc: 'CEL expression over `claims` that returns a string or a list of strings.',
  }),
})
const userRule = s.object({
  expression: field(1, s.string(), { doc: 'CEL expression over `user` that must be true.' }),
  message: field(2, s.string(), { doc: 'Error message if the expression is false.' }),
})
const claimMappings = s.object({
  username: field(1, prefixedClaim, { doc: 'Name of the user.' }),
  groups: field(2, prefixedClaim, { doc: 'Groups of the user.' }),
  uid: field(3, claimOrExpression, { doc: 'Unique ID of the user.' }),
  extra: field(4, s.list(extraMapping), { doc: 'Extra attributes of the user.' }),
})
const jwt = s.object({
  issuer: field(1, issuer, { doc: 'Issuer of the tokens.' }),
  claimValidationRules: field(2, s.list(validationRule), { doc: 'Rules that the claims must meet.' }),
  claimMappings: field(3, claimMappings, { doc: 'Mapping from the claims of a token to a user.' }),
  userValidationRules: field(4, s.list(userRule), { doc: 'Rules that the user must meet.' }),
})
const anonymous = s.object({
  enabled: field(1, s.boolean(), { doc: 'Whether requests without credentials are accepted.' }),
  conditions: field(2, s.list(s.object({ path: field(1, s.string(), { doc: 'Exact path of the request.' }) })), {
    doc: 'Paths at which anonymous requests are accepted. An empty list means all paths.',
  }),
})
const fields = {
  jwt: field(1, s.list(jwt), { doc: 'Issuers whose JSON Web Tokens are accepted.' }),
  anonymous: field(2, anonymous, {
    doc: 'Settings for requests without credentials. If unset, `--anonymous-auth` applies.',
  }),
}

export type AuthenticationConfiguration = InferFields<typeof fields>
export type JwtConfiguration = Infer<typeof jwt>

export interface ConfigurationParts {
  readonly vendor: Vendor
  readonly emulation: Emulation
  /** Issuers of this cluster's service account tokens, which the file must not configure. */
  readonly ownIssuers: readonly string[]
}

/** Reads the configuration file. Throws ConfigurationFault. */
export function readAuthenticationConfiguration(
  document: Json,
  parts: ConfigurationParts,
): AuthenticationConfiguration {
  const { vendor, emulation } = parts
  const versions = configurationVersions.filter(({ since }) => isAtLeast(emulation.version, since))
  const configuration = readConfiguration(document, {
    vendor,
    group: 'apiserver.config',
    versions: versions.map(({ name }) => name),
    kind: 'AuthenticationConfiguration',
    fields,
  })
  checkIssuers(configuration.jwt ?? [], parts)
  checkAnonymous(configuration.anonymous, emulation)
  return configuration
}

const configurationVersions = [
  { name: 'v1', since: '1.34' },
  { name: 'v1beta1', since: '1.30' },
  { name: 'v1alpha1', since: '1.29' },
] as const

function checkIssuers(issuers: readonly JwtConfiguration[], parts: ConfigurationParts): void {
  if (issuers.length > maxEntries) throw fault('jwt', `must have at most ${maxEntries} issuers`)
  const urls = new Set<string>()
  const discoveryUrls = new Set<string>()
  for (const [i, each] of issuers.entries()) {
    const path = `jwt[${i}]`
    checkIssuer(each.issuer ?? {}, `${path}.issuer`, parts)
    addOnce(urls, each.issuer?.url ?? '', `${path}.issuer.url`)
    if (each.issuer?.discoveryURL) addOnce(discoveryUrls, each.issuer.discoveryURL, `${path}.issuer.discoveryURL`)
    checkRules(each, path)
    checkMappings(each.claimMappings ?? {}, `${path}.claimMappings`, parts.vendor)
    checkVerifiedEmail(each, `${path}.claimMappings.username.expression`)
  }
}

function checkIssuer(
  { url = '', discoveryURL = '', certificateAuthority = '', audiences = [], ...policy }: Infer<typeof issuer>,
  path: FieldPath,
  { ownIssuers }: ConfigurationParts,
): void {
  checkUrl(url, `${path}.url`)
  if (ownIssuers.includes(url)) throw fault(`${path}.url`, 'must not be an issuer of service account tokens')
  if (discoveryURL !== '') {
    checkUrl(discoveryURL, `${path}.discoveryURL`)
    if (withoutSlash(discoveryURL) === withoutSlash(url))
      throw fault(`${path}.discoveryURL`, 'must be different from the url')
  }
  if (certificateAuthority !== '') checkCertificates(certificateAuthority, `${path}.certificateAuthority`)
  checkAudiences(audiences, policy.audienceMatchPolicy ?? '', path)
  if (policy.egressSelectorType)
    throw fault(`${path}.egressSelectorType`, 'is not supported: this server has no egress selectors')
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}

function checkUrl(text: string, path: FieldPath): void {
  if (text === '') throw fault(path, 'is required')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:') throw fault(path, 'must be an https URL')
  if (url.username !== '' || url.password !== '') throw fault(path, 'must not contain a user name or a password')
  if (text.includes('?') || text.includes('#')) throw fault(path, 'must not contain a query or a fragment')
}

function checkCertificates(pem: string, path: FieldPath): void {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw fault(path, 'contains no PEM certificate')
  for (const block of blocks) {
    try {
      new X509Certificate(block)
    } catch {
      throw fault(path, 'contains an invalid certificate')
    }
  }
}

function checkAudiences(audiences: readonly string[], policy: string, path: FieldPath): void {
  if (audiences.length === 0) throw fault(`${path}.audiences`, 'at least one audience is required')
  const seen = new Set<string>()
  for (const [i, audience] of audiences.entries()) {
    if (audience === '') throw fault(`${path}.audiences[${i}]`, 'must not be empty')
    addOnce(seen, audience, `${path}.audiences[${i}]`)
  }
  const isValid = policy === 'MatchAny' || (policy === '' && audiences.length === 1)
  if (!isValid) throw fault(`${path}.audienceMatchPolicy`, 'must be MatchAny if there are several audiences')
}

function checkRules({ claimValidationRules = [], userValidationRules = [] }: JwtConfiguration, path: FieldPath): void {
  assertFew(claimValidationRules, `${path}.claimValidationRules`)
  assertFew(userValidationRules, `${path}.userValidationRules`)
  const claims = new Set<string>()
  const expressions = new Set<string>()
  for (const [i, rule] of claimValidationRules.entries()) {
    const place = `${path}.claimValidationRules[${i}]`
    const { claim = '', expression = '', requiredValue = '', message = '' } = rule
    assertOneOf({ claim, expression }, place)
    if (claim !== '' && message !== '') throw fault(`${place}.message`, 'cannot be set together with claim')
    if (expression !== '' && requiredValue !== '')
      throw fault(`${place}.requiredValue`, 'cannot be set together with expression')
    if (claim === '') addOnce(expressions, expression, `${place}.expression`)
    else addOnce(claims, claim, `${place}.claim`)
  }
  const userExpressions = new Set<string>()
  for (const [i, { expression = '' }] of userValidationRules.entries()) {
    const place = `${path}.userValidationRules[${i}].expression`
    if (expression === '') throw fault(place, 'is required')
    addOnce(userExpressions, expression, place)
  }
}

function checkMappings({ username = {}, groups, uid, extra = [] }: Mappings, path: FieldPath, vendor: Vendor): void {
  checkPrefixed(username, `${path}.username`)
  if (groups?.claim || groups?.expression || groups?.prefix) checkPrefixed(groups, `${path}.groups`)
  if (uid?.claim && uid.expression) assertOneOf({ claim: uid.claim, expression: uid.expression }, `${path}.uid`)
  assertFew(extra, `${path}.extra`)
  const keys = new Set<string>()
  for (const [i, { key = '', valueExpression = '' }] of extra.entries()) {
    const place = `${path}.extra[${i}]`
    checkExtraKey(key, `${place}.key`, vendor)
    addOnce(keys, key, `${place}.key`)
    if (valueExpression === '') throw fault(`${place}.valueExpression`, 'is required')
  }
}

type Mappings = Infer<typeof claimMappings>

function checkPrefixed(mapping: Infer<typeof prefixedClaim>, path: FieldPath): void {
  const { claim = '', expression = '', prefix } = mapping
  assertOneOf({ claim, expression }, path)
  if (expression !== '' && prefix !== undefined) throw fault(`${path}.prefix`, 'cannot be set together with expression')
  if (claim !== '' && prefix === undefined)
    throw fault(`${path}.prefix`, 'is required with claim; set it to "" for no prefix')
}

/** Keys in the vendor's own domain are reserved for attributes that the server sets. */
function checkExtraKey(key: string, path: FieldPath, { groupDomain, keyDomain }: Vendor): void {
  const [domain = '', ...rest] = key.split('/')
  const isPath = rest.length > 0 && rest.every((part) => /^[a-z0-9._~!$&'()*+,;=:@%-]+$/.test(part))
  const isDomain = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(domain) && domain.length <= 253
  if (!isDomain || !isPath) throw fault(path, 'must be a domain and a path in lower case, such as example.com/team')
  if ([groupDomain, keyDomain].some((own) => domain === own || domain.endsWith(`.${own}`)))
    throw fault(path, `must not use the reserved domain ${domain}`)
}

/**
 * If the user name is derived from `claims.email`, requires that some expression of the issuer uses
 * `claims.email_verified`.
 */
function checkVerifiedEmail({ claimMappings = {}, claimValidationRules = [] }: JwtConfiguration, path: FieldPath) {
  const { username = {}, extra = [] } = claimMappings
  const expression = username.expression ?? ''
  if (!/\bclaims\.email\b/.test(expression)) return
  const all = [
    expression,
    ...extra.map(({ valueExpression = '' }) => valueExpression),
    ...claimValidationRules.map((rule) => rule.expression ?? ''),
  ]
  if (!all.some((text) => /\bclaims\.\??email_verified\b/.test(text)))
    throw fault(path, 'uses claims.email, so an expression of the issuer must use claims.email_verified')
}

function checkAnonymous(configuration: Infer<typeof anonymous> | undefined, emulation: Emulation): void {
  if (configuration === undefined) return
  if (!isAvailable({ since: '1.31', gate: 'AnonymousAuthConfigurableEndpoints' }, emulation))
    throw fault('anonymous', 'requires the AnonymousAuthConfigurableEndpoints feature gate')
  const { enabled = false, conditions = [] } = configuration
  if (!enabled && conditions.length > 0) throw fault('anonymous.conditions', 'cannot be set if enabled is false')
  assertFew(conditions, 'anonymous.conditions')
  for (const [i, { path = '' }] of conditions.entries())
    if (!path.startsWith('/')) throw fault(`anonymous.conditions[${i}].path`, 'must be a path that begins with /')
}

function assertOneOf(values: { readonly claim: string; readonly expression: string }, path: FieldPath): void {
  if (values.claim === '' && values.expression === '') throw fault(path, 'claim or expression is required')
  if (values.claim !== '' && values.expression !== '') throw fault(path, 'claim and expression cannot both be set')
}

function assertFew(entries: readonly unknown[], path: FieldPath): void {
  if (entries.length > maxEntries) throw fault(path, `must have at most ${maxEntries} entries`)
}

function addOnce(seen: Set<string>, value: string, path: FieldPath): void {
  if (seen.has(value)) throw fault(path, `is a duplicate: ${JSON.stringify(value.slice(0, 100))}`)
  seen.add(value)
}

function fault(path: FieldPath, why: string): ConfigurationFault {
  return new ConfigurationFault(path, `${path}: ${why}`)
}
