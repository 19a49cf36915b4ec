/**
 * OpenID Connect discovery. Other programs use it to verify service account tokens. `/.well-known/openid-configuration`
 * contains the issuer, and `/openid/v1/jwks` lists the issuer's public keys. The server does not serve these paths
 * unless the issuer is a usable HTTPS URL.
 */
import { stringifyJson } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { acceptedType } from '../response/negotiate.ts'

/** The paths that OpenID Connect clients request. */
export const issuerPaths = { configuration: '/.well-known/openid-configuration', keys: '/openid/v1/jwks' }

/** The issuer's URL, algorithms and public keys, which clients need to verify service account tokens. */
export interface PublicIssuer {
  readonly name: string
  readonly algorithms: readonly string[]
  /** Returns the public keys as a JSON Web Key Set. */
  publicKeys(): Promise<JsonObject>
}

/** Whether the issuer is an HTTPS URL at which clients can fetch the configuration. */
export function isDiscoverable(issuer: string): boolean {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  return url?.protocol === 'https:' && url.search === '' && url.hash === '' && !issuer.endsWith('#')
}

export interface IssuerDiscoveryParts {
  readonly issuer: PublicIssuer
  /** Returns the URL of the public keys. The URL is known only once the server is listening. */
  readonly keysAt: () => string
  readonly emulation: Emulation
}

/** Serves the documents of the token issuer. */
export function issuerDiscovery({ issuer, keysAt, emulation }: IssuerDiscoveryParts): PathHandler {
  const negotiates = isAtLeast(emulation.version, '1.24')
  let keys: Promise<Buffer> | undefined
  const published = () => {
    keys ??= issuer.publicKeys().then((set) => Buffer.from(stringifyJson(set)))
    return keys
  }
  return (exchange, { path, verb }) => {
    if (path !== issuerPaths.configuration && path !== issuerPaths.keys) return false
    if (verb !== 'get') throw notAllowed()
    const mediaType = path === issuerPaths.keys ? 'application/jwk-set+json' : 'application/json'
    if (negotiates) assertAccepted(exchange.headers, mediaType)
    exchange.setHeader('cache-control', 'public, max-age=3600')
    if (path === issuerPaths.keys) return published().then((body) => exchange.send(200, mediaType, body))
    return exchange.send(200, mediaType, Buffer.from(stringifyJson(configuration(issuer, keysAt()))))
  }
}

function assertAccepted(headers: RequestHeaders, mediaType: string): void {
  if (acceptedType(headers, [mediaType]) !== undefined) return
  const message = `406: Not Acceptable\n\nAvailable representations: ${mediaType}`
  throw new ApiError(406, 'NotAcceptable', message, {})
}

function configuration({ name, algorithms }: PublicIssuer, keysAt: string): JsonObject {
  return {
    issuer: name,
    jwks_uri: keysAt,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...algorithms],
  }
}
