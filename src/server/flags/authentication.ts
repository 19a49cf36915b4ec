/** Flags of authentication: client certificates, tokens, proxies, the token webhook, OpenID Connect, anonymous. */
import { flag, oneOf, repeated, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { isToken } from '../../wire/http/header-line.ts'
import { list, readTime } from './values.ts'

const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

export const authenticationFlags = {
  anonymousAuth: flag({
    name: 'anonymous-auth',
    default: 'auto',
    read: oneOf(['auto', 'true', 'false']),
    help: 'accept requests without credentials, as system:anonymous: true, false, or auto, which is true unless AlwaysAllow is among the authorization modes',
  }),
  clientCaFile: flag({
    name: 'client-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs whose client certificates are accepted in addition to the self-made CA',
  }),
  tokenAuthFile: flag({
    name: 'token-auth-file',
    value: 'FILE',
    read: text,
    help: 'CSV file of static tokens: token,user,uid,"group1,group2"',
  }),
  enableBootstrapTokenAuth: toggle({
    name: 'enable-bootstrap-token-auth',
    help: 'accept bootstrap tokens, which are Secrets in kube-system, as credentials; orch up does by default',
  }),
  requestheaderClientCaFile: flag({
    name: 'requestheader-client-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of the CAs of authenticating proxies; needs --requestheader-username-headers',
  }),
  requestheaderAllowedNames: flag({
    name: 'requestheader-allowed-names',
    value: 'NAMES',
    read: list,
    help: 'common names of trusted proxies, separated by commas; empty allows every certificate of the CAs',
  }),
  requestheaderUsernameHeaders: flag({
    name: 'requestheader-username-headers',
    value: 'HEADERS',
    read: readHeaderNames,
    help: 'proxy headers with the user name, such as X-Remote-User, separated by commas; the first with a value counts',
  }),
  requestheaderGroupHeaders: flag({
    name: 'requestheader-group-headers',
    value: 'HEADERS',
    read: readHeaderNames,
    help: 'proxy headers with group names, one per value, such as X-Remote-Group, separated by commas',
  }),
  requestheaderExtraHeadersPrefix: flag({
    name: 'requestheader-extra-headers-prefix',
    value: 'PREFIXES',
    read: readHeaderNames,
    help: 'prefixes of proxy headers with extra user information, such as X-Remote-Extra-, separated by commas',
  }),
  authenticationTokenWebhookConfigFile: flag({
    name: 'authentication-token-webhook-config-file',
    value: 'FILE',
    read: text,
    help: 'kubeconfig of the token-review webhook',
  }),
  authenticationTokenWebhookCacheTtl: flag({
    name: 'authentication-token-webhook-cache-ttl',
    value: 'TIME',
    default: '2m0s',
    read: readTime,
    help: 'time that an answer of the webhook is cached; 0s disables caching',
  }),
  authenticationTokenWebhookVersion: flag({
    name: 'authentication-token-webhook-version',
    value: 'VERSION',
    default: 'v1beta1',
    read: oneOf(['v1', 'v1beta1']),
    help: 'version of the TokenReviews sent to the webhook: v1 or v1beta1',
  }),
  oidcIssuerUrl: flag({
    name: 'oidc-issuer-url',
    value: 'URL',
    read: readIssuerUrl,
    help: 'https URL of the OpenID Connect provider whose ID tokens are accepted; needs --oidc-client-id',
  }),
  oidcClientId: flag({
    name: 'oidc-client-id',
    value: 'NAME',
    read: text,
    help: 'client ID that ID tokens must be issued for',
  }),
  oidcCaFile: flag({
    name: 'oidc-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of the CAs that verify the provider; the well-known CAs by default',
  }),
  oidcUsernameClaim: flag({
    name: 'oidc-username-claim',
    value: 'CLAIM',
    default: 'sub',
    read: readClaim,
    help: 'claim with the user name',
  }),
  oidcUsernamePrefix: flag({
    name: 'oidc-username-prefix',
    value: 'TEXT',
    read: text,
    help: 'prefix of user names; - for none; the issuer URL and # by default, unless the claim is email',
  }),
  oidcGroupsClaim: flag({
    name: 'oidc-groups-claim',
    value: 'CLAIM',
    read: text,
    help: 'claim with the groups of the user',
  }),
  oidcGroupsPrefix: flag({ name: 'oidc-groups-prefix', value: 'TEXT', read: text, help: 'prefix of group names' }),
  oidcSigningAlgs: flag({
    name: 'oidc-signing-algs',
    value: 'NAMES',
    default: 'RS256',
    read: readAlgorithms,
    help: `accepted signing algorithms of ID tokens, separated by commas: ${signingAlgorithms.join(', ')}`,
  }),
  oidcRequiredClaim: repeated({
    name: 'oidc-required-claim',
    value: 'CLAIM=TEXT',
    read: readRequiredClaims,
    help: 'claim that ID tokens must have with exactly this value; several may be separated by commas',
  }),
}

/** In lower case, as they are compared. */
function readHeaderNames(value: string): string[] {
  return list(value).map((name) => {
    if (!isToken(name))
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
