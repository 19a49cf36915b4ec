/** Parses names in proxy paths, such as `web`, `web:8080` or `https:web:8080`. The port may be a name. */
import { badRequest } from '../../api/model/api-error.ts'

const schemes = ['', 'http', 'https']

/** Returns the name of the object in a proxy path. `what` is the kind of the object in error messages. */
export function proxiedName(text: string, what: string): string {
  const parts = text.split(':')
  const [scheme = '', name = ''] = parts.length === 3 ? parts : ['', parts[0]]
  if (parts.length <= 3 && schemes.includes(scheme) && name !== '') return name
  throw badRequest(`invalid ${what} request ${JSON.stringify(text.slice(0, 100))}: use [scheme:]name[:port]`)
}

/** Returns the scheme of a proxy path, `http` or `https`. Empty if the path has no scheme. */
export function proxiedScheme(text: string): string {
  const parts = text.split(':')
  return parts.length === 3 ? parts[0]! : ''
}

/** Returns the number or name of the port in a proxy path. Empty if the path has no port. */
export function proxiedPort(text: string): string {
  return text.split(':').length === 1 ? '' : (text.split(':').at(-1) ?? '')
}
