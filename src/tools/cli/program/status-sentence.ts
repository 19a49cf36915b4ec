/** A refusal of the server as a sentence, as users of kubectl know it, and what to do next where orchctl knows it. */
import { refusedAction } from '../../../client/requests/refused-action.ts'
import type { StatusError } from '../../../client/requests/status-error.ts'

/** `doing` says what was being done, where that is not plain. */
export function statusSentence(error: StatusError, doing = ''): string {
  const { reason, message } = error
  if (reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`
  const head = reason === '' ? 'Error from server' : `Error from server (${reason})`
  return `${head}: ${doing}${message}${reason === 'Forbidden' ? wayToAsk(message) : ''}`
}

/** What a shell takes as it is. */
const plain = /^[\w/][\w.:@/-]*$/

/** Who may ask why is told so by the server itself; for all others an administrator can. */
function wayToAsk(message: string): string {
  const refused = message.includes('auth why') ? undefined : refusedAction(message)
  if (refused === undefined) return ''
  const { user, verb, group, resource, subresource, namespace, path } = refused
  const type = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
  const place = path !== '' ? '' : namespace === '' ? ' -A' : ` -n ${namespace}`
  return [user, verb, path || type, namespace || '/'].every((word) => plain.test(word))
    ? `\nAn administrator can see why: orchctl auth why ${verb} ${path || type}${place} --user ${user}`
    : ''
}
