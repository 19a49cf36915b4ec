/** What `user.auth-provider` of a client config says: an OpenID Connect provider, and the tokens that it has issued. */
import { isObject, type JsonObject } from '../../api/json/json.ts'
import { checkPem, type Entry, fault, optional, optionalText, pemOf, requiredText } from './config-entry.ts'

export interface OidcUser {
  /** The client config, and the name of the user in it: where renewed tokens are kept. */
  readonly file: string
  readonly user: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  readonly idToken: string | undefined
  readonly refreshToken: string | undefined
  /** PEM of the authorities of the provider's certificate; left out: the well-known ones. */
  readonly authority: string | undefined
}

export function oidcUserOf(user: Entry, provider: JsonObject): OidcUser {
  const name = requiredText({ ...user, content: provider, title: `${user.title}: auth-provider` }, 'name')
  if (name !== 'oidc')
    throw fault(user, 'auth-provider', `${JSON.stringify(name)} is not supported, only oidc: use exec instead`)
  const given = optional({ ...user, content: provider }, 'config') ?? {}
  if (!isObject(given)) throw fault(user, 'auth-provider', 'config is not an object')
  const config = { ...user, content: given, title: `${user.title}: auth-provider` }
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
