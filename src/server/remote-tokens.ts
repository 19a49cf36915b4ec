/** Strategies for tokens that others vouch for, as the flags say: the token webhook and OpenID Connect. */
import { Agent } from 'node:https'
import type { Authenticator } from '../authn/authenticator.ts'
import { idTokens } from '../authn/openid-connect/id-tokens.ts'
import { OpenidProvider } from '../authn/openid-connect/provider.ts'
import { tokenWebhook } from '../authn/token-webhook.ts'
import type { Clock } from '../base/clock.ts'
import { UsageError } from '../base/flags.ts'
import { askForJson } from '../base/https-json.ts'
import type { Json } from '../model/json.ts'
import { vendorOf } from '../model/vendor.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { readAuthorities } from './client-authorities.ts'
import type { ServerOptions } from './options.ts'
import type { Reloading } from './reloading.ts'
import { audiencesOf } from './service-account-tokens.ts'
import { webhookService } from './webhook-service.ts'

export interface RemoteTokenParts {
  readonly clock: Clock
  readonly log: Log
  readonly reloading: Reloading
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

/** Throws UsageError where flags do not fit together, or a file is of no use. */
export function remoteTokens(options: ServerOptions, parts: RemoteTokenParts): Authenticator[] {
  return [openidConnectOf(options, parts), webhookOf(options, parts)].filter((strategy) => strategy !== undefined)
}

function webhookOf(options: ServerOptions, parts: RemoteTokenParts): Authenticator | undefined {
  const { clock, log, reloading, opened } = parts
  const file = options.authenticationTokenWebhookConfigFile
  if (file === '') return undefined
  const service = webhookService('authentication-token-webhook-config-file', file, reloading)
  opened.defer(() => service.close())
  const vendor = vendorOf(options.profile)
  const tell = nowAndThen(clock, (error) => log.error('the token webhook failed', errorFields(error)))
  return tokenWebhook({
    vendor,
    clock,
    version: options.authenticationTokenWebhookVersion,
    ttlMs: options.authenticationTokenWebhookCacheTtl,
    audiences: audiencesOf(options),
    post: (review) => service.post(review),
    onFailure: tell,
  })
}

function openidConnectOf(options: ServerOptions, parts: RemoteTokenParts): Authenticator | undefined {
  checkOpenidFlags(options)
  if (options.oidcIssuerUrl === '') return undefined
  const { clock, log, opened } = parts
  const provider = new OpenidProvider({
    issuer: options.oidcIssuerUrl,
    clock,
    get: getterBy(options.oidcCaFile, parts.reloading),
    onFailure: (error) => log.error('the OpenID Connect provider could not be asked', errorFields(error)),
  })
  provider.start()
  opened.defer(() => provider.close())
  return idTokens({
    provider,
    clientId: options.oidcClientId,
    algorithms: options.oidcSigningAlgs,
    rules: {
      issuer: options.oidcIssuerUrl,
      usernameClaim: options.oidcUsernameClaim,
      usernamePrefix: options.oidcUsernamePrefix,
      groupsClaim: options.oidcGroupsClaim,
      groupsPrefix: options.oidcGroupsPrefix,
      requiredClaims: new Map(options.oidcRequiredClaim.flat()),
    },
    clock,
  })
}

/** Gets JSON from servers that these authorities vouch for: those of the file as it is now. */
function getterBy(file: string, reloading: Reloading): (url: string) => Promise<Json> {
  const read = () => (file === '' ? undefined : readAuthorities('oidc-ca-file', file).map(String).join(''))
  if (file !== '')
    reloading.follow('oidc-ca-file', [file], () => {
      ca = read()
    })
  let ca = read()
  return async (url) => {
    const agent = new Agent(ca === undefined ? {} : { ca })
    try {
      return (await askForJson({ url, agent })) as Json
    } finally {
      agent.destroy()
    }
  }
}

/** Two of these flags are needed for any of them to have a meaning. */
function checkOpenidFlags(options: ServerOptions): void {
  const { oidcIssuerUrl: issuer, oidcClientId: client } = options
  if (issuer !== '' && client === '') throw new UsageError('--oidc-issuer-url needs --oidc-client-id')
  if (issuer !== '') return
  const given = {
    'oidc-client-id': client,
    'oidc-ca-file': options.oidcCaFile,
    'oidc-username-prefix': options.oidcUsernamePrefix,
    'oidc-groups-claim': options.oidcGroupsClaim,
    'oidc-groups-prefix': options.oidcGroupsPrefix,
    'oidc-required-claim': options.oidcRequiredClaim.flat().join(),
  }
  for (const [flag, value] of Object.entries(given))
    if (value !== '') throw new UsageError(`--${flag} needs --oidc-issuer-url`)
}

const tellEveryMs = 5_000

/** Anybody can send tokens: what goes wrong with them must not fill the log. */
function nowAndThen(clock: Clock, tell: (error: unknown) => void): (error: unknown) => void {
  let told = Number.NEGATIVE_INFINITY
  return (error) => {
    if (clock.monotonic() - told < tellEveryMs) return
    told = clock.monotonic()
    tell(error)
  }
}
