/** Names in proxy paths, such as `web`, `web:8080` or `https:web:8080`. The port may be a name. */
import { badRequest } from '../../api/model/api-error.ts'

const schemes = ['', 'http', 'https']

/** Returns the name of the object. `what` is its kind in error messages. */
export function proxiedName(text: string, what: string): string {
  const parts = text.split(':')
  const [scheme = '', name = ''] = parts.length === 3 ? parts : ['', parts[0]]
  if (parts.length <= 3 && schemes.includes(scheme) && name !== '') return name
  throw badRequest(`invalid ${what} request ${JSON.stringify(text.slice(0, 100))}: use [scheme:]name[:port]`)
}

/** Returns `http` or `https`. Empty if there is no scheme. */
export function proxiedScheme(text: string): string {
  const parts = text.split(':')
  return parts.length === 3 ? parts[0]! : ''
}

/** Returns the number or name of the port. Empty if there is none. */
export function proxiedPort(text: string): string {
  return text.split(':').length === 1 ? '' : (text.split(':').at(-1) ?? '')
}
