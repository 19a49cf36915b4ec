/**
 * Proxies a request unchanged to a pod, a service or a node. Redirects and links in HTML pages are rewritten so that
 * they stay below the proxy path.
 */
import type { Destination } from '../outbound/connections.ts'
import { ForwardRequest, type ProxyErrors } from '../outbound/proxy-target.ts'
import type { EndpointRequest } from '../registry/catalogue/endpoint.ts'
import type { NodeConnector } from './node-connector.ts'

interface ProxiedTo {
  readonly ways: NodeConnector
  readonly destination: () => Destination | Promise<Destination>
  readonly errors: ProxyErrors
  /**
   * Identifies the proxied object, so that limits on concurrent requests apply to each object regardless of how its URL
   * is written.
   */
  readonly to: string
}

export function passThroughProxy(
  request: EndpointRequest,
  { ways, destination, errors, to }: ProxiedTo,
): ForwardRequest {
  const { path, below } = request
  const [rest = ''] = below.split('?', 1)
  const base = path.slice(0, path.length - rest.length)
  return new ForwardRequest({
    to,
    relay: ways.relay,
    destination,
    errors,
    path: below.startsWith('/') ? below : `/${below}`,
    sendsUser: false,
    redirect: (location) => redirectBelow(base, location),
    link: (link) => linkBelow(base, link),
  })
}

/** Returns the rewritten Location of a redirect to another path on the same server. Undefined for other redirects. */
function redirectBelow(base: string, location: string): string | undefined {
  if (!isPathOfServer(location) || /[^\x21-\x7e]/.test(location)) return undefined
  const { pathname, search } = new URL(location, 'http://server')
  return `${base}${pathname}${search}`
}

/** Rewrites a link to `/path` so that it stays below the proxy path. Returns undefined if it need not be rewritten. */
function linkBelow(base: string, link: string): string | undefined {
  if (!isPathOfServer(link) || link === base || link.startsWith(`${base}/`)) return undefined
  // Escape characters that could end an HTML attribute.
  return base.replace(/["'<>\s]/g, (character) => `%${character.charCodeAt(0).toString(16)}`) + link
}

function isPathOfServer(location: string): boolean {
  return location.startsWith('/') && !/^\/[/\\]/.test(location)
}
