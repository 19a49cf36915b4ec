/** A refusal of the server as one sentence, as users of kubectl know it. */
import type { StatusError } from '../client/status-error.ts'

/** `doing` says what was being done, where that is not plain. */
export function statusSentence({ reason, message }: StatusError, doing = ''): string {
  if (reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`
  return reason === '' ? `Error from server: ${doing}${message}` : `Error from server (${reason}): ${doing}${message}`
}
