/** Formats an error response from the server in the same way as kubectl, and adds a hint if orchctl has one. */
import { refusedAction } from '../../../client/requests/refused-action.ts'
import type { StatusError } from '../../../client/requests/status-error.ts'

/** Formats an error response as a sentence. `doing` is a prefix that names the failed action, or ''. */
export function statusSentence(error: StatusError, doing = ''): string {
  const { reason, message } = error
  if (reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`
  const head = reason === '' ? 'Error from server' : `Error from server (${reason})`
  return `${head}: ${doing}${message}${reason === 'Forbidden' ? authWhyHint(message) : ''}`
}

/** Matches words that need no quotes in a shell. */
const plain = /^[\w/][\w.:@/-]*$/

/** Suggests that an administrator run `auth why`. If the user may run the command, the server already suggests it. */
function authWhyHint(message: string): string {
  const refused = message.includes('auth why') ? undefined : refusedAction(message)
  if (refused === undefined) return ''
  const { user, verb, group, resource, subresource, namespace, path } = refused
  const type = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
  const place = path !== '' ? '' : namespace === '' ? ' -A' : ` -n ${namespace}`
  return [user, verb, path || type, namespace || '/'].every((word) => plain.test(word))
    ? `\nAn administrator can see why: orchctl auth why ${verb} ${path || type}${place} --user ${user}`
    : ''
}
