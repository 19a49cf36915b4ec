/**
 * An ID token of an OpenID Connect provider. The token is renewed when it has expired or is rejected. New tokens are
 * saved to the kubeconfig under its lock. A provider may revoke a refresh token after its first use, so only one
 * program renews the token and the others read the result.
 */
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import { UrlConnections } from '../../wire/http/client/url-connections.ts'
import { askForJson, BadAnswer } from '../../wire/http/https-json.ts'
import { type CredentialSource, type Credentials, isToken } from './credentials.ts'
import { changeEntry } from './kubeconfig-edit.ts'
import { ConfigError } from './kubeconfig-files.ts'
import type { OidcUser } from './oidc-user.ts'

/** Tokens are renewed this long before they expire, in milliseconds, so that no token expires in transit. */
const earlyMs = 10_000

interface Tokens {
  readonly idToken: string | undefined
  readonly refreshToken: string | undefined
}

export class OidcCredentials implements CredentialSource {
  readonly #user: OidcUser
  readonly #clock: Clock
  #current: Credentials | undefined
  #renewing: Promise<Credentials> | undefined

  constructor(user: OidcUser, clock: Clock = systemClock) {
    this.#user = user
    this.#clock = clock
    if (user.idToken !== undefined && isToken(user.idToken)) this.#current = { token: user.idToken }
  }

  async current(): Promise<Credentials> {
    const { token } = this.#current ?? {}
    if (this.#current !== undefined && !this.#hasExpired(token)) return this.#current
    return await this.#renew(token)
  }

  async replace(refused: Credentials): Promise<Credentials | undefined> {
    if (this.#current !== undefined && this.#current !== refused) return this.#current
    if (this.#user.refreshToken === undefined) return undefined
    return await this.#renew(refused.token)
  }

  #hasExpired(token: string | undefined): boolean {
    return token === undefined || expiryOf(token) <= this.#clock.now() + earlyMs
  }

  /** Renews the token once for all concurrent requests. */
  #renew(useless: string | undefined): Promise<Credentials> {
    this.#renewing ??= this.#ask(useless).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #ask(useless: string | undefined): Promise<Credentials> {
    const { file, user } = this.#user
    let idToken: string | undefined
    await changeEntry(file, { sort: 'user', name: user }, async (entry) => {
      const provider = objectIn(entry, 'auth-provider')
      const config = objectIn(provider, 'config')
      const cachedTokens = { idToken: textIn(config, 'id-token'), refreshToken: textIn(config, 'refresh-token') }
      idToken = cachedTokens.idToken
      // Another program may have renewed the token in the meantime. The file then contains the new token.
      if (idToken !== undefined && idToken !== useless && !this.#hasExpired(idToken)) return entry
      const fresh = await refresh(this.#user, cachedTokens)
      idToken = fresh.idToken
      const renewed = { ...config, 'id-token': fresh.idToken!, 'refresh-token': fresh.refreshToken! }
      return { ...entry, 'auth-provider': { ...provider, config: renewed } }
    })
    this.#current = { token: idToken! }
    return this.#current
  }
}

/** Requests new tokens from the provider. Errors contain neither the request nor the response. */
async function refresh(user: OidcUser, { refreshToken }: Tokens): Promise<Tokens> {
  if (refreshToken === undefined)
    throw new ConfigError(
      `${user.file}: user ${JSON.stringify(user.user)}: the id-token has expired and there is no refresh-token: log in again`,
    )
  const connections = new UrlConnections({ authority: user.authority })
  try {
    const endpoint = await tokenEndpoint(user, connections)
    const answer = await askForJson({
      url: endpoint,
      connections,
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: clientOf(user) },
    })
    const idToken = textIn(answer as Json, 'id_token')
    if (idToken === undefined || !isToken(idToken)) throw new BadAnswer('the service returned no id_token')
    return { idToken, refreshToken: textIn(answer as Json, 'refresh_token') ?? refreshToken }
  } catch (error) {
    const why = (error as Error).message
    throw new ConfigError(`cannot renew the id-token for user ${JSON.stringify(user.user)} at ${user.issuer}: ${why}`, {
      cause: error,
    })
  } finally {
    connections.destroy()
  }
}

async function tokenEndpoint({ issuer }: OidcUser, connections: UrlConnections): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const endpoint = textIn((await askForJson({ url, connections })) as Json, 'token_endpoint') ?? ''
  if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== 'https:')
    throw new BadAnswer('the service has no https token_endpoint')
  return endpoint
}

/**
 * Returns the value of the Authorization header. The client ID and the client secret are form-encoded before they are
 * joined, as required by section 2.3.1 of RFC 6749.
 */
function clientOf({ clientId, clientSecret = '' }: OidcUser): string {
  const pair = [clientId, clientSecret].map((part) => encodeURIComponent(part).replaceAll('%20', '+')).join(':')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/**
 * Returns the expiry in milliseconds since 1970, or 0 if the token has no readable expiry. The server verifies the
 * token.
 */
function expiryOf(token: string): number {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Json
    const expiry = isObject(claims) ? own(claims, 'exp') : undefined
    return typeof expiry === 'number' ? expiry * 1000 : 0
  } catch {
    return 0
  }
}

function objectIn(value: JsonObject, field: string): JsonObject {
  const content = own(value, field)
  return isObject(content) ? content : {}
}

function textIn(value: Json, field: string): string | undefined {
  const content = isObject(value) ? own(value, field) : undefined
  return typeof content === 'string' && content !== '' ? content : undefined
}
