/** The flags of authenticating proxies, of the token webhook and of OpenID Connect. */
import { flag, oneOf, repeated, text, UsageError } from '../base/flags.ts'
import { list, readTime } from './flag-values.ts'

const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

export const identityFlags = {
  requestheaderClientCaFile: flag(
    'requestheader-client-ca-file',
    'FILE',
    '',
    text,
    'PEM bundle of CAs whose certificates authenticating proxies show; needs --requestheader-username-headers',
  ),
  requestheaderAllowedNames: flag(
    'requestheader-allowed-names',
    'NAMES',
    '',
    list,
    'common names of proxies that may say who asks, separated by commas; empty: any that the CAs vouch for',
  ),
  requestheaderUsernameHeaders: flag(
    'requestheader-username-headers',
    'HEADERS',
    '',
    readHeaderNames,
    'headers of a proxy that name the user, separated by commas, such as X-Remote-User; the first with a value counts',
  ),
  requestheaderGroupHeaders: flag(
    'requestheader-group-headers',
    'HEADERS',
    '',
    readHeaderNames,
    'headers of a proxy of which every value is a group, such as X-Remote-Group',
  ),
  requestheaderExtraHeadersPrefix: flag(
    'requestheader-extra-headers-prefix',
    'PREFIXES',
    '',
    readHeaderNames,
    'with what headers of a proxy begin that tell more of the user, such as X-Remote-Extra-',
  ),
  authenticationTokenWebhookConfigFile: flag(
    'authentication-token-webhook-config-file',
    'FILE',
    '',
    text,
    'who is asked whose a token is: a client config (kubeconfig) that names the service',
  ),
  authenticationTokenWebhookCacheTtl: flag(
    'authentication-token-webhook-cache-ttl',
    'TIME',
    '2m0s',
    readTime,
    'how long an answer of that service is remembered; 0s: not at all',
  ),
  authenticationTokenWebhookVersion: flag(
    'authentication-token-webhook-version',
    'VERSION',
    'v1beta1',
    oneOf(['v1', 'v1beta1']),
    'the version of TokenReview that the service is asked in: v1 or v1beta1',
  ),
  oidcIssuerUrl: flag(
    'oidc-issuer-url',
    'URL',
    '',
    readIssuerUrl,
    'the OpenID Connect provider whose ID tokens are accepted; https; needs --oidc-client-id',
  ),
  oidcClientId: flag('oidc-client-id', 'NAME', '', text, 'the client that ID tokens must be issued for'),
  oidcCaFile: flag(
    'oidc-ca-file',
    'FILE',
    '',
    text,
    'PEM bundle of the CAs that the provider is verified by; without it the well-known ones',
  ),
  oidcUsernameClaim: flag('oidc-username-claim', 'CLAIM', 'sub', readClaim, 'the claim that is the name of the user'),
  oidcUsernamePrefix: flag(
    'oidc-username-prefix',
    'TEXT',
    '',
    text,
    'what is put before the names of users; - for nothing; without it the URL of the issuer and #, unless the claim is email',
  ),
  oidcGroupsClaim: flag('oidc-groups-claim', 'CLAIM', '', text, 'the claim that holds the groups of the user'),
  oidcGroupsPrefix: flag('oidc-groups-prefix', 'TEXT', '', text, 'what is put before the names of groups'),
  oidcSigningAlgs: flag(
    'oidc-signing-algs',
    'NAMES',
    'RS256',
    readAlgorithms,
    `the algorithms that ID tokens may be signed by, separated by commas: ${signingAlgorithms.join(', ')}`,
  ),
  oidcRequiredClaim: repeated(
    'oidc-required-claim',
    'CLAIM=TEXT',
    readRequiredClaims,
    'a claim that ID tokens must have with exactly this text; several may be separated by commas',
  ),
}

/** In lower case, as they are compared. */
function readHeaderNames(value: string): string[] {
  return list(value).map((name) => {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw new UsageError(`${JSON.stringify(name)} is not the name of a header: use one such as X-Remote-User`)
    return name.toLowerCase()
  })
}

function readIssuerUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (value !== '' && (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== ''))
    throw new UsageError(`${JSON.stringify(value)} is not the URL of an issuer: use one such as https://id.example.com`)
  return value
}

function readClaim(value: string): string {
  if (value === '') throw new UsageError('the name of a claim is needed')
  return value
}

function readAlgorithms(value: string): string[] {
  const names = list(value)
  const unknown = names.find((name) => !signingAlgorithms.includes(name))
  if (unknown !== undefined || names.length === 0)
    throw new UsageError(`${JSON.stringify(unknown ?? '')} is not one of ${signingAlgorithms.join(', ')}`)
  return names
}

function readRequiredClaims(value: string): (readonly [string, string])[] {
  return list(value).map((pair) => {
    const equals = pair.indexOf('=')
    if (equals < 1) throw new UsageError(`${JSON.stringify(pair)} is not a claim and its text: use CLAIM=TEXT`)
    return [pair.slice(0, equals), pair.slice(equals + 1)]
  })
}
