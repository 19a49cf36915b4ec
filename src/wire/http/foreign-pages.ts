/**
 * Detects requests from web pages of other origins by the headers `Origin` and `Sec-Fetch-Site`, which browsers add and
 * web pages cannot set. A browser attaches client certificates, and the credentials of a local proxy, to the requests
 * of every page, so only these headers show which page sent a request.
 *
 * Most other programs send neither header, but some WebSocket libraries send an arbitrary `Origin`. Those programs are
 * recognized by a `User-Agent` that no browser sends and that a web page cannot set without a preflight request. A
 * different port on the same host is a different origin.
 */

/** The parts of a request that show whether a web page sent the request. */
export interface PageRequest {
  readonly method: string
  /** Whether the request asks to change the protocol of the connection, as a WebSocket request does. */
  readonly isUpgrade: boolean
  /** The origin that the client used to address this server, such as `https://127.0.0.1:6443`. */
  readonly ownOrigin: string
  /** Returns all values of a header. The name must be in lower case. */
  readonly valuesOf: (name: string) => readonly string[]
}

/** Returns the origin for a `Host` header. If the header is missing, returns '', which matches no origin. */
export function originOf(scheme: 'http' | 'https', host: string): string {
  if (host === '') return ''
  const defaultPort = scheme === 'http' ? /:80$/ : /:443$/
  return `${scheme}://${host.replace(defaultPort, '')}`.toLowerCase()
}

/** HTTP methods that do not change data. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request can change data, either as a write or as an upgrade to a protocol that can carry writes. */
export function canChange({ method, isUpgrade }: Pick<PageRequest, 'method' | 'isUpgrade'>): boolean {
  return isUpgrade || !safeMethods.has(method)
}

/**
 * Returns the reason to reject a request that can change data. Returns undefined unless the request comes from a web
 * page of another origin. `isAllowed` accepts additional origins.
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
  // `Sec-Fetch-Site` is not checked for allowed origins, because browsers send `cross-site` for them too.
  if (origins.some(isAllowed)) return undefined
  const site = request.valuesOf('sec-fetch-site').find((value) => !ownSites.has(value.toLowerCase()))
  return site === undefined
    ? undefined
    : `a page from another origin caused the request (Sec-Fetch-Site: ${site.slice(0, maxShown)})`
}

/**
 * Whether the client identifies itself as a program other than a browser and sends no header that only browsers send.
 */
function isProgram({ valuesOf }: PageRequest): boolean {
  const agents = valuesOf('user-agent')
  if (agents.length !== 1 || browserAgent.test(agents[0]!) || agents[0]!.trim() === '') return false
  return browserHeaders.every((name) => valuesOf(name).length === 0)
}

const browserAgent = /^\s*(?:Mozilla|Opera)\//i
const browserHeaders = ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user', 'accept-language']

/**
 * The values of `Sec-Fetch-Site` for requests that do not come from other origins. `none` means that the user made the
 * request directly, without a page.
 */
const ownSites: ReadonlySet<string> = new Set(['same-origin', 'none'])
const maxShown = 100

/**
 * Whether a browser is requesting a service worker script. A service worker could intercept the requests of all pages
 * of the origin.
 */
export function asksForServiceWorker(request: Pick<PageRequest, 'valuesOf'>): boolean {
  return request.valuesOf('service-worker').length > 0
}
