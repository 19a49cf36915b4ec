/** Who may come in, as the flags say: the authenticators of this server. */
import { type Authenticator, anonymousUser, firstOf } from '../authn/authenticator.ts'
import { clientCertificates } from '../authn/client-certificate.ts'
import { staticTokens } from '../authn/static-tokens.ts'
import type { Clock } from '../base/clock.ts'
import { UsageError } from '../base/flags.ts'
import type { ServerOptions } from './options.ts'
import { readFlagFile } from './read-flag-file.ts'

export interface Identity {
  /** For requests. */
  readonly requests: Authenticator
  /** For reviews of tokens: nobody is anonymous. */
  readonly tokens: Authenticator
}

/**
 * Reads the files that flags name, at once; gives what makes the authenticators from them and `ofObjects`, the
 * strategies that look at stored objects, which come later.
 */
export function readIdentity(options: ServerOptions, clock: Clock): (ofObjects: readonly Authenticator[]) => Identity {
  // Without a file every token is wrong, which is not the same as none.
  const tokens = options.tokenAuthFile === '' ? staticTokens('') : tokensOf(options.tokenAuthFile)
  return (ofObjects) => {
    const strategies = [clientCertificates(clock), tokens, ...ofObjects]
    const anonymous = letsAnonymousIn(options) ? anonymousUser : undefined
    return { requests: firstOf(strategies, anonymous), tokens: firstOf(strategies, undefined) }
  }
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
