/** Assembles the authenticators of this server from its flags. */
import type { X509Certificate } from 'node:crypto'
import { vendorOf } from '../../api/model/vendor.ts'
import { isAtLeast } from '../../api/versions/emulated-version.ts'
import { anonymous } from '../../apiserver/authn/anonymous.ts'
import { authenticatingProxy, isProxyHeader } from '../../apiserver/authn/authenticating-proxy.ts'
import { type Authenticator, firstOf } from '../../apiserver/authn/authenticator.ts'
import { clientCertificates } from '../../apiserver/authn/client-certificate.ts'
import type { DeniedCertificates } from '../../apiserver/authn/denied-certificates.ts'
import { MultipleCommonNames } from '../../apiserver/authn/multiple-common-names.ts'
import { withoutNodeClient } from '../../apiserver/authn/node-client-certificates.ts'
import { readTokens, staticTokens, stillGranted, type TokenUsers } from '../../apiserver/authn/static-tokens.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { ClientAuthorities } from '../certificates/client-authorities.ts'
import { authorizationModesOf } from '../flags/authorization.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions, ServerOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { StructuredParts } from './authentication-configuration.ts'
import type { ReloadMetrics } from './reload-metrics.ts'
import { type RemoteTokenParts, remoteTokens } from './remote-tokens.ts'

export interface IdentityParts extends RemoteTokenParts {
  readonly authorities: ClientAuthorities
  readonly denied: DeniedCertificates
  /**
   * Returns whether this is a client certificate that API servers present to node agents. Such a certificate must not
   * authenticate clients of this server.
   */
  readonly isNodeClient: (certificate: X509Certificate) => boolean
}

export interface Identity {
  /** Authenticates requests. */
  readonly requests: Authenticator
  /** Authenticates tokens for TokenReview. Never returns the anonymous user. */
  readonly tokens: Authenticator
  /**
   * Returns whether a header must be visible only to authentication. Such a header is removed from the request
   * afterwards. Undefined unless an authenticating proxy is configured.
   */
  readonly isSecretHeader: ((name: string) => boolean) | undefined
}

/**
 * Creates the authenticators. `ofObjects` are strategies that read stored objects, such as the strategy for bootstrap
 * tokens.
 */
export type Identify = (
  ofObjects: readonly Authenticator[],
  options: EmulatedOptions,
  reloads: ReloadMetrics,
) => Promise<Identity>

/**
 * Reads the files specified by flags. Returns a function that creates the authenticators once the emulated version and
 * the stored objects are known. Throws UsageError for invalid flags or files.
 */
export async function readIdentity(options: ServerOptions, parts: IdentityParts): Promise<Identify> {
  const { authorities } = parts
  const severalNames = new MultipleCommonNames(parts.log)
  const proxy = proxyOf(options, { ...parts, severalNames })
  const last = [staticTokens(tokensOf(options.tokenAuthFile, parts)), ...(await remoteTokens(options, parts))]
  const isAnonymousAllowed = letsAnonymousIn(options)
  return async (ofObjects, emulated, reloads) => {
    checkVersionOfFlags(emulated)
    const configured = await structuredOf(emulated, { ...parts, reloads })
    const users = { vendor: vendorOf(emulated.profile), emulation: emulationFrom(emulated) }
    const first = [
      ...(proxy === undefined ? [] : [proxy.authenticator]),
      clientCertificates({ ...parts, ...users, authorities: () => authorities.clients, severalNames }),
    ]
    const withoutCredentials = anonymous({
      isAllowedAt: (path) => configured?.allowsAnonymousAt(path) ?? isAnonymousAllowed,
      warnsOfSpaces: isAtLeast(emulated.emulatedVersion, '1.24'),
    })
    // Local strategies come first, so that a token is sent to a webhook or another remote service only if no local
    // strategy accepts it.
    const strategies = [...first, ...ofObjects, ...(configured ? [configured.tokens] : []), ...last]
    return {
      requests: withoutNodeClient(firstOf(strategies, withoutCredentials)),
      tokens: withoutNodeClient(firstOf(strategies)),
      isSecretHeader: proxy?.isSecretHeader,
    }
  }
}

async function structuredOf(options: EmulatedOptions, parts: StructuredParts) {
  if (options.authenticationConfig === '') return undefined
  const { openAuthenticationConfiguration } = await import('./authentication-configuration.ts')
  return await openAuthenticationConfiguration(options, parts)
}

/** Whether anonymous requests are allowed. With AlwaysAllow, they are rejected unless a flag enables them. */
function letsAnonymousIn(options: ServerOptions): boolean {
  const { anonymousAuth } = options
  return anonymousAuth === 'auto' ? !authorizationModesOf(options).includes('AlwaysAllow') : anonymousAuth === 'true'
}

/**
 * Returns the authenticator for tokens in a file. Without a file, every token is invalid, so a request with a token is
 * not treated like a request without one.
 */
function tokensOf(file: string, { reloading, log }: Pick<IdentityParts, 'reloading' | 'log'>): () => TokenUsers {
  if (file === '') {
    const nobody: TokenUsers = new Map()
    return () => nobody
  }
  reloading.follow('token-auth-file', [file], () => {
    const changed = stillGranted(users, readTokenFile(file, log))
    users = changed.users
    if (changed.added > 0)
      log.warn('new and changed tokens in the token file take effect only after a restart', {
        flag: '--token-auth-file',
        tokens: changed.added,
      })
  })
  let users = readTokenFile(file, log)
  return () => users
}

function readTokenFile(file: string, log: Log): TokenUsers {
  const csv = readFlagFile('token-auth-file', file)
  const skipped = (line: number) =>
    log.warn('skipped a line without a token in the token file', { flag: '--token-auth-file', file, line })
  try {
    return readTokens(csv, skipped)
  } catch (error) {
    throw new UsageError(`--token-auth-file: ${file}: ${messageOf(error)}`)
  }
}

interface Proxy {
  readonly authenticator: Authenticator
  readonly isSecretHeader: (name: string) => boolean
}

function proxyOf(
  options: ServerOptions,
  {
    clock,
    authorities,
    denied,
    isNodeClient,
    severalNames,
  }: IdentityParts & { readonly severalNames: MultipleCommonNames },
): Proxy | undefined {
  checkProxyFlags(options)
  if (options.requestheaderClientCaFile === '') return undefined
  const headers = {
    username: options.requestheaderUsernameHeaders,
    uid: options.requestheaderUidHeaders,
    groups: options.requestheaderGroupHeaders,
    extraPrefixes: options.requestheaderExtraHeadersPrefix,
  }
  const authenticator = authenticatingProxy({
    authorities: () => authorities.proxies,
    denied,
    isNodeClient,
    severalNames,
    allowedNames: options.requestheaderAllowedNames,
    headers,
    clock,
  })
  return { authenticator, isSecretHeader: (name) => isProxyHeader(headers, name) }
}

/** Checks that every feature that the flags require is enabled and exists in the emulated version. */
function checkVersionOfFlags(options: EmulatedOptions): void {
  if (options.requestheaderUidHeaders.length > 0 && !emulationFrom(options).gates.has('RemoteRequestHeaderUID'))
    throw new UsageError(
      '--requestheader-uid-headers requires the feature gate RemoteRequestHeaderUID, which was added in Kubernetes 1.32',
    )
}

/** Checks that interdependent flags are set together. */
function checkProxyFlags(options: ServerOptions): void {
  const { requestheaderClientCaFile: authority, requestheaderUsernameHeaders: username } = options
  const others = {
    'requestheader-username-headers': username,
    'requestheader-uid-headers': options.requestheaderUidHeaders,
    'requestheader-group-headers': options.requestheaderGroupHeaders,
    'requestheader-extra-headers-prefix': options.requestheaderExtraHeadersPrefix,
    'requestheader-allowed-names': options.requestheaderAllowedNames,
  }
  for (const [flag, values] of Object.entries(others))
    if (values.length > 0 && authority === '')
      throw new UsageError(`--${flag} requires --requestheader-client-ca-file, which authenticates the proxy`)
  if (authority !== '' && username.length === 0)
    throw new UsageError(
      '--requestheader-client-ca-file requires --requestheader-username-headers, such as X-Remote-User',
    )
}
