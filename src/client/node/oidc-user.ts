/** Reads `user.auth-provider` in a kubeconfig: an OpenID Connect provider and its tokens. */
import { isObject, type JsonObject } from '../../api/json/json.ts'
import { checkPem, type Entry, fault, optional, optionalText, pemOf, requiredText } from './config-entry.ts'

export interface OidcUser {
  /** The kubeconfig file and the user entry in which renewed tokens are saved. */
  readonly file: string
  readonly user: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  readonly idToken: string | undefined
  readonly refreshToken: string | undefined
  /** CA certificates for verifying the provider, in PEM format. Defaults to the well-known CAs. */
  readonly authority: string | undefined
}

export function oidcUserOf(user: Entry, provider: JsonObject): OidcUser {
  const name = requiredText({ ...user, content: provider, title: `${user.title}: auth-provider` }, 'name')
  if (name !== 'oidc')
    throw fault(user, 'auth-provider', `${JSON.stringify(name)} is not supported, only oidc: use exec instead`)
  const providerConfig = optional({ ...user, content: provider }, 'config') ?? {}
  if (!isObject(providerConfig)) throw fault(user, 'auth-provider', 'config is not an object')
  const config = { ...user, content: providerConfig, title: `${user.title}: auth-provider` }
  const issuer = requiredText(config, 'idp-issuer-url')
  if (!URL.canParse(issuer) || new URL(issuer).protocol !== 'https:')
    throw fault(config, 'idp-issuer-url', 'is not an https address')
  const authority = pemOf(config, 'idp-certificate-authority')
  if (authority !== undefined) checkPem(config, 'idp-certificate-authority', { ca: authority })
  return {
    file: user.file,
    user: user.name ?? '',
    issuer,
    clientId: requiredText(config, 'client-id'),
    clientSecret: optionalText(config, 'client-secret'),
    idToken: optionalText(config, 'id-token'),
    refreshToken: optionalText(config, 'refresh-token'),
    authority,
  }
}
