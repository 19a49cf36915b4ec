/**
 * A request that is passed on to a pod, a service or a node as it is, and whose redirects stay below its own path. So do the
 * links of pages that come back.
 */
import type { Destination } from '../outbound/connections.ts'
import { type PassageErrors, PassOn } from '../outbound/passage.ts'
import type { EndpointRequest } from '../registry/catalogue/endpoint.ts'
import type { WaysToNodes } from './ways-to-nodes.ts'

interface ProxiedTo {
  readonly ways: WaysToNodes
  readonly destination: () => Destination | Promise<Destination>
  readonly errors: PassageErrors
  /** The object behind the path, by which requests under way are counted, however the path is spelled. */
  readonly to: string
}

export function passThroughProxy(request: EndpointRequest, { ways, destination, errors, to }: ProxiedTo): PassOn {
  const { path, below } = request
  const [rest = ''] = below.split('?', 1)
  const base = path.slice(0, path.length - rest.length)
  return new PassOn({
    ...{ to, relay: ways.relay, destination, errors },
    path: below.startsWith('/') ? below : `/${below}`,
    tellsUser: false,
    redirect: (location) => redirectBelow(base, location),
    link: (link) => linkBelow(base, link),
  })
}

/** A redirect to another path of the same server; undefined for any other. */
function redirectBelow(base: string, location: string): string | undefined {
  if (!isPathOfServer(location) || /[^\x21-\x7e]/.test(location)) return undefined
  const { pathname, search } = new URL(location, 'http://server')
  return `${base}${pathname}${search}`
}

/** A link to a path of the same server, unless it leads below the base already. */
function linkBelow(base: string, link: string): string | undefined {
  if (!isPathOfServer(link) || link === base || link.startsWith(`${base}/`)) return undefined
  // What ends a value of an attribute does not get into the page by way of a path.
  return base.replace(/["'<>\s]/g, (character) => `%${character.charCodeAt(0).toString(16)}`) + link
}

function isPathOfServer(location: string): boolean {
  return location.startsWith('/') && !/^\/[/\\]/.test(location)
}
