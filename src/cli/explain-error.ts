/** What went wrong, in the words of a user: one line for each thing, ready to be printed. */
import { UsageError } from '../base/flags.ts'
import { ConfigError } from '../client/node/kubeconfig-files.ts'
import { NameError } from '../client/resource-type.ts'
import { StatusError } from '../client/status-error.ts'
import { TransportError } from '../client/transport.ts'
import { escapeText } from './printers/escape.ts'

/** Several things went wrong, one after the other, while the rest was done. */
export class SeveralErrors extends Error {
  override readonly name = 'SeveralErrors'
  readonly errors: readonly unknown[]

  constructor(errors: readonly unknown[]) {
    super(`${errors.length} errors`)
    this.errors = errors
  }
}

export function explainError(error: unknown): string {
  if (error instanceof SeveralErrors) return error.errors.map(explainError).join('')
  return `${escapeText(sentence(error))}\n`
}

/** What the user can fix: the message is enough. */
const toMend = [UsageError, ConfigError, NameError]

function sentence(error: unknown): string {
  if (error instanceof StatusError) return statusSentence(error)
  if (toMend.some((type) => error instanceof type)) return `error: ${(error as Error).message}`
  if (error instanceof TransportError) return `error: ${withCauses(error)}`
  // A bug of this program: whoever fixes it needs to know where.
  return `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}

function statusSentence({ reason, message }: StatusError): string {
  if (reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`
  return reason === '' ? `Error from server: ${message}` : `Error from server (${reason}): ${message}`
}

const maxCauses = 4

function withCauses(error: Error): string {
  const messages: string[] = []
  for (let e: unknown = error; e instanceof Error && messages.length < maxCauses; e = e.cause)
    messages.push(e.message || (e as NodeJS.ErrnoException).code || e.name)
  return messages.join(': ')
}
