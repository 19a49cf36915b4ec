/**
 * Flags for authentication: client certificates, tokens, proxies, the token webhook, OpenID Connect and anonymous
 * requests.
 */
import { flag, oneOf, repeated, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { isToken } from '../../wire/http/header-line.ts'
import { list, readTime } from './values.ts'

const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

export const authenticationFlags = {
  anonymousAuth: flag({
    name: 'anonymous-auth',
    default: 'auto',
    read: oneOf(['auto', 'true', 'false']),
    help: 'accept requests without credentials as system:anonymous: true, false, or auto, which means true unless the authorization modes include AlwaysAllow',
  }),
  clientCaFile: flag({
    name: 'client-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs whose client certificates are accepted, in addition to the generated CA',
  }),
  tokenAuthFile: flag({
    name: 'token-auth-file',
    value: 'FILE',
    read: text,
    help: 'CSV file with static tokens: token,user,uid,"group1,group2"',
  }),
  enableBootstrapTokenAuth: toggle({
    name: 'enable-bootstrap-token-auth',
    help: 'accept bootstrap tokens, which are stored as Secrets in kube-system; on by default in orch up',
  }),
  requestheaderClientCaFile: flag({
    name: 'requestheader-client-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs that sign the client certificates of authenticating proxies; requires --requestheader-username-headers',
  }),
  requestheaderAllowedNames: flag({
    name: 'requestheader-allowed-names',
    value: 'NAMES',
    read: list,
    help: 'allowed common names in the client certificates of authenticating proxies, separated by commas; if empty, any certificate signed by a CA in --requestheader-client-ca-file is accepted',
  }),
  requestheaderUsernameHeaders: flag({
    name: 'requestheader-username-headers',
    value: 'HEADERS',
    read: readHeaderNames,
    help: 'comma-separated list of proxy headers that contain the user name, such as X-Remote-User; the server uses the first header that is not empty',
  }),
  requestheaderUidHeaders: flag({
    name: 'requestheader-uid-headers',
    value: 'HEADERS',
    read: readHeaderNames,
    help: "proxy headers with the user's UID, such as X-Remote-Uid, separated by commas; the server uses the first header that is not empty; since 1.33",
  }),
  requestheaderGroupHeaders: flag({
    name: 'requestheader-group-headers',
    value: 'HEADERS',
    read: readHeaderNames,
    help: 'proxy headers with group names, such as X-Remote-Group, separated by commas; each value is one group',
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
    help: 'kubeconfig for the token review webhook',
  }),
  authenticationTokenWebhookCacheTtl: flag({
    name: 'authentication-token-webhook-cache-ttl',
    value: 'TIME',
    default: '2m0s',
    read: readTime,
    help: 'time to cache responses of the token review webhook; 0s disables caching',
  }),
  authenticationTokenWebhookVersion: flag({
    name: 'authentication-token-webhook-version',
    value: 'VERSION',
    default: 'v1beta1',
    read: oneOf(['v1', 'v1beta1']),
    help: 'version of the TokenReviews sent to the webhook: v1 or v1beta1',
  }),
  authenticationConfig: flag({
    name: 'authentication-config',
    value: 'FILE',
    read: text,
    help: 'AuthenticationConfiguration file with JSON Web Token issuers and the settings for anonymous access; reloaded when it changes; cannot be combined with the --oidc flags',
  }),
  oidcIssuerUrl: flag({
    name: 'oidc-issuer-url',
    value: 'URL',
    read: readIssuerUrl,
    help: 'https URL of the OpenID Connect provider whose ID tokens are accepted; requires --oidc-client-id',
  }),
  oidcClientId: flag({
    name: 'oidc-client-id',
    value: 'NAME',
    read: text,
    help: 'client ID that ID tokens must list as their audience',
  }),
  oidcCaFile: flag({
    name: 'oidc-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs for verifying the certificate of the OpenID Connect provider; defaults to the public CAs known to Node.js',
  }),
  oidcUsernameClaim: flag({
    name: 'oidc-username-claim',
    value: 'CLAIM',
    default: 'sub',
    read: readClaim,
    help: 'ID token claim that contains the user name',
  }),
  oidcUsernamePrefix: flag({
    name: 'oidc-username-prefix',
    value: 'TEXT',
    read: text,
    help: 'prefix for user names from ID tokens; - means none; defaults to the issuer URL followed by #, or to none if the claim is email',
  }),
  oidcGroupsClaim: flag({
    name: 'oidc-groups-claim',
    value: 'CLAIM',
    read: text,
    help: "ID token claim that contains the user's groups",
  }),
  oidcGroupsPrefix: flag({
    name: 'oidc-groups-prefix',
    value: 'TEXT',
    read: text,
    help: 'prefix for group names from ID tokens',
  }),
  oidcSigningAlgs: flag({
    name: 'oidc-signing-algs',
    value: 'NAMES',
    default: 'RS256',
    read: readAlgorithms,
    help: `accepted signing algorithms for ID tokens, separated by commas: ${signingAlgorithms.join(', ')}`,
  }),
  oidcRequiredClaim: repeated({
    name: 'oidc-required-claim',
    value: 'CLAIM=TEXT',
    read: readRequiredClaims,
    help: 'required claims of ID tokens, as CLAIM=VALUE, separated by commas',
  }),
}

/** Parses header names. Returns them in lower case, because request headers are compared in lower case. */
function readHeaderNames(value: string): string[] {
  return list(value).map((name) => {
    if (!isToken(name))
      throw new UsageError(`${JSON.stringify(name)} is not a valid header name: use a name such as X-Remote-User`)
    return name.toLowerCase()
  })
}

function readIssuerUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (value !== '' && (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== ''))
    throw new UsageError(`${JSON.stringify(value)} is not an issuer URL: use a URL such as https://id.example.com`)
  return value
}

function readClaim(value: string): string {
  if (value === '') throw new UsageError('the name of a claim is required')
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
    if (equals < 1) throw new UsageError(`${JSON.stringify(pair)} must have the form CLAIM=VALUE`)
    return [pair.slice(0, equals), pair.slice(equals + 1)]
  })
}
