/** The console of a process: where it is, and the link that signs the administrator in, where one is to be printed. */
import { systemClock } from '../../base/time/clock.ts'
import { ConsoleAccess, type ConsoleSecrets, newConsoleSecrets } from '../../tools/console/access.ts'
import type { ServerCommandLine } from '../flags/command-line.ts'

export interface ConsoleOpening {
  /** By which workers know the sessions; undefined where there is no link. */
  readonly secrets: ConsoleSecrets | undefined
  readonly access: ConsoleAccess | undefined
  /** Where the console is, with the link; undefined where it is not served. */
  address(url: string): string | undefined
}

/** A log is no place for a secret, so the link is made only where somebody looks at the output, or asks for it. */
export function openConsole(
  { options, up }: ServerCommandLine,
  output: { readonly isTTY?: boolean } = process.stdout,
): ConsoleOpening {
  const wanted = up?.consoleLink === 'true' || (up?.consoleLink === 'auto' && output.isTTY === true)
  const secrets = options.console && wanted ? newConsoleSecrets(systemClock) : undefined
  const access = secrets && new ConsoleAccess(secrets, systemClock)
  return { secrets, access, address: (url) => (options.console ? addressOf(url, access) : undefined) }
}

/** What stands behind the `#` stays in the browser: it is neither sent nor logged. */
function addressOf(url: string, access: ConsoleAccess | undefined): string {
  if (access === undefined) return `${url}/console/`
  return `${url}/console/#link=${access.link}  (signs you in, once and within 10 minutes)`
}
