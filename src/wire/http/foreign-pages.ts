/**
 * Detects requests from web pages of other origins, using the headers `Origin` and `Sec-Fetch-Site`, which browsers add
 * and pages cannot set. Browsers attach client certificates and the credentials of a local proxy to any page's
 * requests, so these headers are the only evidence.
 *
 * Most programs send neither of these headers. Some WebSocket libraries send an arbitrary `Origin`. Such programs are
 * recognized by a `User-Agent` that no browser sends and that a page cannot set without a preflight. A different port
 * on the same host is a different origin.
 */

/** The parts of a request that show whether a web page sent it. */
export interface PageRequest {
  readonly method: string
  /** Whether the request asks to switch protocols, like a WebSocket request. */
  readonly isUpgrade: boolean
  /** The origin under which the client reached this server, such as `https://127.0.0.1:6443`. */
  readonly ownOrigin: string
  /** Returns all values of a header, by its lower-case name. */
  readonly valuesOf: (name: string) => readonly string[]
}

/** Returns the origin for this `Host` header. Empty, which matches no origin, if the host is missing. */
export function originOf(scheme: 'http' | 'https', host: string): string {
  if (host === '') return ''
  const defaultPort = scheme === 'http' ? /:80$/ : /:443$/
  return `${scheme}://${host.replace(defaultPort, '')}`.toLowerCase()
}

/** Methods that change nothing. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether the request can change data: it is a write, or an upgrade to a protocol that can carry any data. */
export function canChange({ method, isUpgrade }: Pick<PageRequest, 'method' | 'isUpgrade'>): boolean {
  return isUpgrade || !safeMethods.has(method)
}

/**
 * Returns the reason to reject a request that can change data. Undefined if the request does not come from a page of
 * another origin. `isAllowed` accepts additional origins.
 */
export function foreignPageFault(
  request: PageRequest,
  isAllowed: (origin: string) => boolean = () => false,
): string | undefined {
  if (!canChange(request) || isProgram(request)) return undefined
  const origins = request.valuesOf('origin').filter((origin) => origin !== '')
  const foreign = origins.find((origin) => origin.toLowerCase() !== request.ownOrigin && !isAllowed(origin))
  if (foreign !== undefined)
    return `a page from the origin ${JSON.stringify(foreign.slice(0, maxShown))} caused the request`
  // For allowed origins, `Sec-Fetch-Site` is not checked, because browsers send `cross-site` for them too.
  if (origins.some(isAllowed)) return undefined
  const site = request.valuesOf('sec-fetch-site').find((value) => !ownSites.has(value.toLowerCase()))
  return site === undefined
    ? undefined
    : `a page from another origin caused the request (Sec-Fetch-Site: ${site.slice(0, maxShown)})`
}

/**
 * Whether the client identifies itself as a program other than a browser, and sends no header that only browsers send.
 */
function isProgram({ valuesOf }: PageRequest): boolean {
  const agents = valuesOf('user-agent')
  if (agents.length !== 1 || browserAgent.test(agents[0]!) || agents[0]!.trim() === '') return false
  return browserHeaders.every((name) => valuesOf(name).length === 0)
}

const browserAgent = /^\s*(?:Mozilla|Opera)\//i
const browserHeaders = ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user', 'accept-language']

/**
 * Values of `Sec-Fetch-Site` for requests that do not come from other origins. `none` means that the user made the
 * request directly, without a page.
 */
const ownSites: ReadonlySet<string> = new Set(['same-origin', 'none'])
const maxShown = 100

/**
 * Whether a browser requests a service worker script. Such a worker could intercept the requests of all pages of the
 * origin.
 */
export function asksForServiceWorker(request: Pick<PageRequest, 'valuesOf'>): boolean {
  return request.valuesOf('service-worker').length > 0
}
