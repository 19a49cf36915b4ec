/**
 * Strategies for tokens that remote services verify: the token webhook and OpenID Connect. The code is loaded only if a
 * flag configures them.
 */

import { vendorOf } from '../../api/model/vendor.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import { tokenWebhook } from '../../apiserver/authn/token-webhook.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import { audiencesOf } from './service-account-tokens.ts'

export interface RemoteTokenParts {
  readonly clock: Clock
  readonly log: Log
  readonly reloading: Reloading
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

/** Opens the strategies. Throws UsageError if flags conflict or a file is invalid. */
export async function remoteTokens(options: ServerOptions, parts: RemoteTokenParts): Promise<Authenticator[]> {
  const strategies = [await openidConnectOf(options, parts), await webhookOf(options, parts)]
  return strategies.filter((strategy) => strategy !== undefined)
}

async function webhookOf(options: ServerOptions, parts: RemoteTokenParts): Promise<Authenticator | undefined> {
  const { clock, log, reloading, opened } = parts
  const file = options.authenticationTokenWebhookConfigFile
  if (file === '') return undefined
  const { webhookService } = await import('./webhook-service.ts')
  const service = webhookService('authentication-token-webhook-config-file', file, reloading)
  opened.defer(() => service.close())
  const vendor = vendorOf(options.profile)
  const tell = nowAndThen(clock, (error) => log.error('token webhook failed', errorFields(error)))
  return tokenWebhook({
    vendor,
    clock,
    version: options.authenticationTokenWebhookVersion,
    ttlMs: options.authenticationTokenWebhookCacheTtl,
    audiences: audiencesOf(options),
    post: (review, trace) => service.post(review, trace),
    onFailure: tell,
  })
}

async function openidConnectOf(options: ServerOptions, parts: RemoteTokenParts): Promise<Authenticator | undefined> {
  checkOpenidFlags(options)
  if (options.oidcIssuerUrl === '') return undefined
  return (await import('./openid-connect.ts')).openidConnect(options, parts)
}

/** Checks that interdependent flags are set together. */
function checkOpenidFlags(options: ServerOptions): void {
  const { oidcIssuerUrl: issuer, oidcClientId: client } = options
  if (issuer !== '' && client === '') throw new UsageError('--oidc-issuer-url requires --oidc-client-id')
  if (issuer !== '') return
  const openidFlags = {
    'oidc-client-id': client,
    'oidc-ca-file': options.oidcCaFile,
    'oidc-username-prefix': options.oidcUsernamePrefix,
    'oidc-groups-claim': options.oidcGroupsClaim,
    'oidc-groups-prefix': options.oidcGroupsPrefix,
    'oidc-required-claim': options.oidcRequiredClaim.flat().join(),
  }
  for (const [flag, value] of Object.entries(openidFlags))
    if (value !== '') throw new UsageError(`--${flag} requires --oidc-issuer-url`)
}

const tellEveryMs = 5_000

/**
 * Returns a callback that logs errors at a limited rate. Any client can send tokens, so the errors must not be allowed
 * to fill the log.
 */
function nowAndThen(clock: Clock, tell: (error: unknown) => void): (error: unknown) => void {
  let lastLoggedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (clock.monotonic() - lastLoggedAt < tellEveryMs) return
    lastLoggedAt = clock.monotonic()
    tell(error)
  }
}
