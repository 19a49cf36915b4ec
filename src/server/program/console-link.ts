/** Determines the URL of the console and the administrator's sign-in link. */
import { systemClock } from '../../base/time/clock.ts'
import { ConsoleAccess, type ConsoleSecrets, newConsoleSecrets } from '../../tools/console/access.ts'
import type { ServerCommandLine } from '../flags/command-line.ts'

export interface ConsoleOpening {
  /**
   * Secrets for verifying sign-in links and sessions, shared with all workers. Undefined if there is no sign-in link.
   */
  readonly secrets: ConsoleSecrets | undefined
  readonly access: ConsoleAccess | undefined
  /**
   * Returns the URL of the console, as a sign-in link if sign-in is configured, or undefined if the console is not
   * served.
   */
  address(url: string): string | undefined
}

/**
 * Opens the console. The link is created only if the output is a terminal or a flag requests it, because a log must not
 * contain secrets.
 */
export function openConsole(
  { options, up }: ServerCommandLine,
  output: { readonly isTTY?: boolean } = process.stdout,
): ConsoleOpening {
  const printsLink = up?.consoleLink === 'true' || (up?.consoleLink === 'auto' && output.isTTY === true)
  const secrets = options.console && printsLink ? newConsoleSecrets(systemClock) : undefined
  const access = secrets && new ConsoleAccess(secrets, systemClock)
  return { secrets, access, address: (url) => (options.console ? addressOf(url, access) : undefined) }
}

/**
 * Returns the address to print. Browsers do not send the part after `#`, so the secret in the link is neither sent nor
 * logged.
 */
function addressOf(url: string, access: ConsoleAccess | undefined): string {
  if (access === undefined) return `${url}/console/`
  return `${url}/console/#link=${access.link}  (signs you in, once and within 10 minutes)`
}
