/** Who may come in, as the flags say: the authenticator of this server. */
import { type Authenticator, anonymousUser, firstOf } from '../authn/authenticator.ts'
import { clientCertificates } from '../authn/client-certificate.ts'
import { staticTokens } from '../authn/static-tokens.ts'
import type { Clock } from '../base/clock.ts'
import { UsageError } from '../base/flags.ts'
import type { ServerOptions } from './options.ts'
import { readFlagFile } from './read-flag-file.ts'

export function makeAuthenticator(options: ServerOptions, clock: Clock): Authenticator {
  // Without a file every token is wrong, which is not the same as none.
  const tokens = options.tokenAuthFile === '' ? staticTokens('') : tokensOf(options.tokenAuthFile)
  const strategies = [clientCertificates(clock), tokens]
  return firstOf(strategies, letsAnonymousIn(options) ? anonymousUser : undefined)
}

/** Where everything is allowed to everyone who is known, the unknown stay out unless they are asked in. */
function letsAnonymousIn({ anonymousAuth, authorizationMode }: ServerOptions): boolean {
  return anonymousAuth === 'auto' ? !authorizationMode.includes('AlwaysAllow') : anonymousAuth === 'true'
}

function tokensOf(file: string): Authenticator {
  const csv = readFlagFile('token-auth-file', file)
  try {
    return staticTokens(csv)
  } catch (error) {
    throw new UsageError(`--token-auth-file: ${file}: ${(error as Error).message}`)
  }
}
