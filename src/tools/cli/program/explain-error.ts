/** Converts errors to messages for users: one line per error. */

import { ApiError } from '../../../api/model/api-error.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { codeOf, isError, messageOf } from '../../../base/text/errors.ts'
import { ConfigError, MissingConfigError } from '../../../client/node/kubeconfig-files.ts'
import { NameError } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { TransportError } from '../../../client/requests/transport.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { escapeText } from '../printers/escape.ts'
import { statusSentence } from './status-sentence.ts'

/** Thrown by a command that continued after failures and has several errors to report. */
export class SeveralErrors extends Error {
  override readonly name = 'SeveralErrors'
  readonly errors: readonly unknown[]

  constructor(errors: readonly unknown[]) {
    super(`${errors.length} errors`)
    this.errors = errors
  }
}

export async function explainError(error: unknown): Promise<string> {
  if (error instanceof SeveralErrors) return (await Promise.all(error.errors.map(explainError))).join('')
  if (error instanceof ManifestError && error.cause instanceof StatusError) {
    const { explainRefusal } = await import('../manifests/explain-refusal.ts')
    return `${escapeText(explainRefusal(error, error.cause))}\n`
  }
  return `${escapeText(sentence(error instanceof ManifestError ? error.cause : error))}\n`
}

/** Errors that users can correct themselves. Their messages need no stack trace. */
const userErrorTypes = [UsageError, ConfigError, NameError, ApiError]

function sentence(error: unknown): string {
  if (error instanceof StatusError) return statusSentence(error)
  const connection = connectionSentence(error)
  if (connection !== undefined) return `error: ${connection}`
  if (userErrorTypes.some((type) => error instanceof type)) return `error: ${messageOf(error)}`
  // All other errors are bugs in this program, so print the stack trace.
  return `error: ${isError(error) ? (error.stack ?? error.message) : String(error)}`
}

/** Explains why a command cannot reach a server, and what to do about it. Returns undefined for all other errors. */
export function connectionSentence(error: unknown): string | undefined {
  if (error instanceof MissingConfigError)
    return `${error.message}\nStart a server with \`orch up\`, or specify the kubeconfig of a server with --kubeconfig.`
  return error instanceof TransportError ? `${withCauses(error)}${nextStep(error)}` : undefined
}

const maxCauses = 4

function causesOf(error: Error): Error[] {
  const causes: Error[] = []
  for (let e: unknown = error; isError(e) && causes.length < maxCauses; e = e.cause) causes.push(e)
  return causes
}

function withCauses(error: Error): string {
  return causesOf(error)
    .map((cause) => cause.message || codeOf(cause) || cause.name)
    .join(': ')
}

/** Hints for users who cannot reach the server, by error code of the connection. */
const nextSteps: readonly (readonly [code: RegExp, step: string])[] = [
  [
    /^ECONNREFUSED$/,
    'Nothing listens there: is the server running? `orchctl config view --minify` shows the server in use.',
  ],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'The host name is unknown: `orchctl config view --minify` shows the server in use.'],
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_.*|CERT_.*)$/,
    "Set --certificate-authority to the CA that signed the server's certificate, or get a new kubeconfig for this server.",
  ],
]

function nextStep(error: Error): string {
  const codes = causesOf(error).map((cause) => codeOf(cause) ?? '')
  const matchingStep = nextSteps.find(([code]) => codes.some((errorCode) => code.test(errorCode)))
  return matchingStep === undefined ? '' : `\n${matchingStep[1]}`
}
