/** Parses names in proxy paths, such as `web`, `web:8080` or `https:web:8080`. The port may be a name. */
import { badRequest } from '../../api/model/api-error.ts'

const schemes = ['', 'http', 'https']

/**
 * Returns the object's name from a name such as `https:web:8080`. `what` is the kind of object for the error message.
 */
export function proxiedName(text: string, what: string): string {
  const parts = text.split(':')
  const [scheme = '', name = ''] = parts.length === 3 ? parts : ['', parts[0]]
  if (parts.length <= 3 && schemes.includes(scheme) && name !== '') return name
  throw badRequest(`invalid ${what} request ${JSON.stringify(text.slice(0, 100))}: use [scheme:]name[:port]`)
}

/** Returns the scheme from a name such as `https:web:8080`, or '' if there is none. */
export function proxiedScheme(text: string): string {
  const parts = text.split(':')
  return parts.length === 3 ? parts[0]! : ''
}

/** Returns the port from a name such as `https:web:8080`, or '' if there is none. The port can itself be a name. */
export function proxiedPort(text: string): string {
  return text.split(':').length === 1 ? '' : (text.split(':').at(-1) ?? '')
}
