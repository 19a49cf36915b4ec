/** Who may come in, and what they may do, as the flags say: the authenticator and the authorizer of this server. */
import { type Authenticator, anonymousUser, firstOf } from '../authn/authenticator.ts'
import { clientCertificates } from '../authn/client-certificate.ts'
import { staticTokens } from '../authn/static-tokens.ts'
import { type Authorizer, alwaysAllow, alwaysDeny, openPaths, privilegedGroup, union } from '../authz/authorizer.ts'
import type { Clock } from '../base/clock.ts'
import { UsageError } from '../base/flags.ts'
import type { AuthorizationMode, ServerOptions } from './options.ts'
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

const modes: { readonly [M in AuthorizationMode]: Authorizer } = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny }

export function makeAuthorizer(names: readonly AuthorizationMode[]): Authorizer {
  return union([
    privilegedGroup,
    openPaths(['/livez', '/readyz', '/healthz', '/version', '/version/']),
    ...names.map((name) => modes[name]),
  ])
}
