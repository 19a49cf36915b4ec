/**
 * Ports of simulated pods, as specified by PortForward and ClusterPortForward objects. A connection to such a port
 * reaches another server or receives predefined HTTP responses. Commands are not supported, because users must not run
 * programs on the server's machine.
 */
import type { Json } from '../../../api/json/json.ts'
import { array, fields, number, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import type { RuleType } from './pod-rules.ts'

/** How to serve connections to a port: by forwarding them to another server, or with predefined HTTP responses. */
export type PortService =
  | { readonly type: 'target'; readonly host: string; readonly port: number }
  | { readonly type: 'http'; readonly routes: readonly HttpRoute[] }

/** A predefined response. */
export interface HttpRoute {
  /** The path of the request. If the path ends with `/`, the route matches all paths with this prefix. */
  readonly location: string
  readonly code: number
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly body: string
}

const maxRoutes = 64
const maxHeaders = 64
const maxPort = 65_535
const maxHostLength = 253

/** Describes the `forwards` field of PortForward and ClusterPortForward objects, and parses its rules. */
export const portRules: RuleType<PortService> = {
  list: 'forwards',
  subjects: 'ports',
  fields: ['target', 'command', 'httpRoutes'],
  read: ({ target, command, httpRoutes }, where) => {
    if (array(command, `${where}.command`).length > 0)
      throw new StageError(`${where}.command is not supported: the server does not run users' commands`)
    const routes = array(httpRoutes, `${where}.httpRoutes`)
    if (routes.length > maxRoutes) throw new StageError(`${where}.httpRoutes has more than ${maxRoutes} elements`)
    return routes.length === 0
      ? readTarget(target, `${where}.target`)
      : { type: 'http', routes: routes.map((route, i) => readRoute(route, `${where}.httpRoutes[${i}]`)) }
  },
}

function readTarget(value: Json | undefined, where: string): PortService {
  const { address, port } = fields(value, where, ['address', 'port'])
  const host = text(address, `${where}.address`)
  if (host === '' || host.length > maxHostLength) throw new StageError(`${where}.address is not a valid host name`)
  const number = wholeNumber(port, `${where}.port`)
  if (number < 1 || number > maxPort) throw new StageError(`${where}.port is not between 1 and ${maxPort}`)
  return { type: 'target', host, port: number }
}

function readRoute(value: Json, where: string): HttpRoute {
  const route = fields(value, where, ['location', 'code', 'headers', 'body'])
  const code = wholeNumber(route.code, `${where}.code`)
  if (code < 200 || code > 599) throw new StageError(`${where}.code is not between 200 and 599`)
  const headers = array(route.headers, `${where}.headers`)
  if (headers.length > maxHeaders) throw new StageError(`${where}.headers has more than ${maxHeaders} elements`)
  return {
    location: text(route.location, `${where}.location`),
    code,
    headers: headers.map((each, i) => readHeader(each, `${where}.headers[${i}]`)),
    body: route.body === undefined ? '' : text(route.body, `${where}.body`),
  }
}

/** Headers that routes cannot set, because the server sets them itself. */
const framing = new Set(['connection', 'content-length', 'transfer-encoding'])

function readHeader(value: Json, where: string): HttpRoute['headers'][number] {
  const header = fields(value, where, ['name', 'value'])
  const name = text(header.name, `${where}.name`)
  const content = header.value === undefined ? '' : text(header.value, `${where}.value`)
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new StageError(`${where}.name is not a valid header name`)
  if (framing.has(name.toLowerCase())) throw new StageError(`${where}.name is a header that the server sets itself`)
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(content)) throw new StageError(`${where}.value contains invalid characters`)
  return { name, value: content }
}

function wholeNumber(value: Json | undefined, where: string): number {
  const result = number(value, where)
  if (result === undefined || !Number.isInteger(result)) throw new StageError(`${where} is not a whole number`)
  return result
}
