/** Authenticates ID tokens from the OpenID Connect provider that the flags configure. */
import type { Json } from '../../api/json/json.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import { userIn } from '../../apiserver/authn/openid-connect/claims.ts'
import { idTokens, TokenIssuer } from '../../apiserver/authn/openid-connect/id-tokens.ts'
import { OpenidProvider } from '../../apiserver/authn/openid-connect/provider.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { UrlConnections } from '../../wire/http/client/url-connections.ts'
import { askForJson } from '../../wire/http/https-json.ts'
import { readAuthorities } from '../certificates/client-authorities.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'

export interface OpenidParts {
  readonly clock: Clock
  readonly log: Log
  readonly reloading: Reloading
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

export function openidConnect(options: ServerOptions, parts: OpenidParts): Authenticator {
  const { clock, log, opened } = parts
  const provider = new OpenidProvider({
    issuer: options.oidcIssuerUrl,
    clock,
    get: getterBy(options.oidcCaFile, parts.reloading),
    onFailure: (error) => log.error('cannot reach the OpenID Connect provider', errorFields(error)),
  })
  provider.start()
  opened.defer(() => provider.close())
  const rules = {
    issuer: options.oidcIssuerUrl,
    usernameClaim: options.oidcUsernameClaim,
    usernamePrefix: options.oidcUsernamePrefix,
    groupsClaim: options.oidcGroupsClaim,
    groupsPrefix: options.oidcGroupsPrefix,
    requiredClaims: new Map(options.oidcRequiredClaim.flat()),
  }
  const issuer = new TokenIssuer({
    issuer: rules.issuer,
    provider,
    audiences: [options.oidcClientId],
    algorithms: options.oidcSigningAlgs,
    userOf: (claims) => userIn(claims, rules),
    clock,
  })
  return idTokens((url) => (url === rules.issuer ? issuer : undefined))
}

/** Returns a function that fetches JSON and verifies servers with the current CAs in the file. */
function getterBy(file: string, reloading: Reloading): (url: string) => Promise<Json> {
  const read = () => (file === '' ? undefined : readAuthorities('oidc-ca-file', file).map(String).join(''))
  if (file !== '')
    reloading.follow('oidc-ca-file', [file], () => {
      ca = read()
    })
  let ca = read()
  return (url) => getJson(url, ca)
}

/**
 * Fetches JSON on a new connection. `authority` contains CA certificates in PEM format, or is undefined for the public
 * CAs.
 */
export async function getJson(url: string, authority: string | undefined): Promise<Json> {
  const connections = new UrlConnections({ authority })
  try {
    return (await askForJson({ url, connections })) as Json
  } finally {
    connections.destroy()
  }
}
