/**
 * The issuers and the rules for anonymous access in the `--authentication-config` file. The file is reloaded when it
 * changes. If the new content is invalid, the previous configuration remains in use, and the error is logged and
 * counted.
 */

import { loadPatternEngine } from '../../api/cel/pattern-engine.ts'
import type { Json } from '../../api/json/json.ts'
import { vendorOf } from '../../api/model/vendor.ts'
import { type Emulation, isAvailable } from '../../api/versions/availability.ts'
import { minorOf } from '../../api/versions/emulated-version.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import { idTokens, TokenIssuer } from '../../apiserver/authn/openid-connect/id-tokens.ts'
import { OpenidProvider } from '../../apiserver/authn/openid-connect/provider.ts'
import {
  type AuthenticationConfiguration,
  type JwtConfiguration,
  readAuthenticationConfiguration,
} from '../../apiserver/authn/structured/authentication-configuration.ts'
import { compileClaimMapping } from '../../apiserver/authn/structured/claim-mapping.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { loadDocumentReader } from '../flags/configuration-document.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import { getJson, type OpenidParts } from './openid-connect.ts'
import type { ReloadMetrics } from './reload-metrics.ts'
import { issuersOf } from './service-account-tokens.ts'

const flagName = 'authentication-config'

/** Signature algorithms that ID tokens may use. */
const algorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

export interface StructuredAuthentication {
  readonly tokens: Authenticator
  /**
   * Returns whether anonymous requests to a path are allowed. Returns undefined if the file does not specify this. The
   * flag then decides.
   */
  readonly allowsAnonymousAt: (path: string) => boolean | undefined
}

export interface StructuredParts extends OpenidParts {
  readonly reloads: ReloadMetrics
}

/** Opens the configuration. Throws UsageError if flags conflict or the file is invalid. */
export async function openAuthenticationConfiguration(
  options: EmulatedOptions,
  parts: StructuredParts,
): Promise<StructuredAuthentication> {
  const emulation = emulationFrom(options)
  refuseConflicts(options, emulation)
  const file = options.authenticationConfig
  const readDocument = await loadDocumentReader()
  const reading: Reading = {
    options,
    emulation,
    version: minorOf(options.emulatedVersion),
    readPattern: await loadPatternEngine(),
  }
  const read = () => readDocument(flagName, file, (document) => readFile(document, reading))
  const issuers = new Issuers(parts)
  let current = read()
  issuers.use(current.issuers)
  const reload = () => {
    const next = read()
    issuers.use(next.issuers)
    current = next
  }
  parts.opened.defer(parts.reloading.follow(flagName, [file], () => parts.reloads.count(reload)))
  parts.opened.defer(() => issuers.use([]))
  return {
    tokens: idTokens((url) => issuers.find(url)),
    allowsAnonymousAt: (path) => allowsAnonymous(current.anonymous, path),
  }
}

function refuseConflicts(options: EmulatedOptions, emulation: Emulation): void {
  const gate = 'StructuredAuthenticationConfiguration'
  if (!isAvailable({ since: '1.29', gate }, emulation))
    throw new UsageError(`--${flagName} requires the feature gate ${gate}, which was added in Kubernetes 1.29`)
  if (options.oidcIssuerUrl !== '')
    throw new UsageError(`--${flagName} and the --oidc flags are mutually exclusive: add the issuer to the file`)
}

interface Reading {
  readonly options: EmulatedOptions
  readonly emulation: Emulation
  readonly version: number
  readonly readPattern: Awaited<ReturnType<typeof loadPatternEngine>>
}

interface ConfiguredIssuer {
  readonly configuration: JwtConfiguration
  readonly userOf: ReturnType<typeof compileClaimMapping>
}

interface Configured {
  readonly issuers: readonly ConfiguredIssuer[]
  readonly anonymous: AuthenticationConfiguration['anonymous']
}

function readFile(document: Json, { options, emulation, ...compiling }: Reading): Configured {
  const vendor = vendorOf(options.profile)
  const parts = { vendor, emulation, ownIssuers: issuersOf(options) }
  const { jwt = [], anonymous } = readAuthenticationConfiguration(document, parts)
  if (anonymous !== undefined && options.anonymousAuth !== 'auto')
    throw new UsageError(`--anonymous-auth and the field anonymous of --${flagName} are mutually exclusive`)
  const issuers = jwt.map((configuration, i) => ({
    configuration,
    userOf: compileClaimMapping(configuration, `jwt[${i}]`, compiling),
  }))
  return { issuers, anonymous }
}

function allowsAnonymous(anonymous: Configured['anonymous'], path: string): boolean | undefined {
  if (anonymous === undefined) return undefined
  const { enabled = false, conditions = [] } = anonymous
  return enabled && (conditions.length === 0 || conditions.some((condition) => condition.path === path))
}

interface Followed {
  readonly issuer: TokenIssuer
  readonly provider: OpenidProvider
  /**
   * Key that changes only when the provider's settings change. As long as it stays the same, a reload keeps the
   * provider's connection and signing keys.
   */
  readonly providerKey: string
}

/** The configured issuers and the connections to their providers, by issuer URL. */
class Issuers {
  readonly #parts: StructuredParts
  #byUrl: ReadonlyMap<string, Followed> = new Map()

  constructor(parts: StructuredParts) {
    this.#parts = parts
  }

  find(url: string): TokenIssuer | undefined {
    return this.#byUrl.get(url)?.issuer
  }

  /**
   * Replaces the issuers. Connects to the providers of new issuers, and closes the connections to providers of removed
   * ones.
   */
  use(configured: readonly ConfiguredIssuer[]): void {
    const previous = this.#byUrl
    this.#byUrl = new Map(
      configured.map((each) => [each.configuration.issuer?.url ?? '', this.#follow(each, previous)]),
    )
    const inUse = new Set([...this.#byUrl.values()].map(({ provider }) => provider))
    for (const { provider } of previous.values()) if (!inUse.has(provider)) provider.close()
  }

  #follow({ configuration, userOf }: ConfiguredIssuer, previous: ReadonlyMap<string, Followed>): Followed {
    const { url = '', discoveryURL = '', certificateAuthority = '', audiences = [] } = configuration.issuer ?? {}
    const providerKey = JSON.stringify([url, discoveryURL, certificateAuthority])
    const before = previous.get(url)
    const provider = before?.providerKey === providerKey ? before.provider : this.#open(configuration)
    const { clock } = this.#parts
    return {
      provider,
      providerKey,
      issuer: new TokenIssuer({ issuer: url, provider, audiences, algorithms, userOf, clock }),
    }
  }

  #open({ issuer = {} }: JwtConfiguration): OpenidProvider {
    const { clock, log } = this.#parts
    const { url = '', discoveryURL = '', certificateAuthority = '' } = issuer
    const provider = new OpenidProvider({
      issuer: url,
      discoveryUrl: discoveryURL === '' ? undefined : discoveryURL,
      clock,
      get: (address) => getJson(address, certificateAuthority === '' ? undefined : certificateAuthority),
      onFailure: (error) => log.error('cannot reach the token issuer', { ...errorFields(error), issuer: url }),
    })
    provider.start()
    return provider
  }
}
