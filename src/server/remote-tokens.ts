/** Strategies for tokens that others vouch for, as the flags say: the token webhook and OpenID Connect. */
import type { Authenticator } from '../authn/authenticator.ts'
import { tokenWebhook } from '../authn/token-webhook.ts'
import type { Clock } from '../base/clock.ts'
import { vendorOf } from '../model/vendor.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
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
  return [webhookOf(options, parts)].filter((strategy) => strategy !== undefined)
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
