/**
 * Uses the headers `Origin` and `Sec-Fetch-Site`, which browsers add and web pages cannot set, to detect requests from
 * web pages of other origins. A browser attaches client certificates, and the credentials of a local proxy, to the
 * requests of every page, so only these headers show which page sent a request.
 *
 * Most other programs send neither header, but some WebSocket libraries send an arbitrary `Origin`. Those programs are
 * recognized by a `User-Agent` that no browser sends and that a web page cannot set without a preflight request. A
 * different port on the same host is a different origin.
 */

/** The parts of a request that show whether a web page sent it. */
export interface PageRequest {
  readonly method: string
  /** Whether the request asks to change the protocol of the connection, as a WebSocket request does. */
  readonly isUpgrade: boolean
  /** The origin of this server as the client addressed it, such as `https://127.0.0.1:6443`. */
  readonly ownOrigin: string
  /** Returns all values of a header. The name must be in lower case. */
  readonly valuesOf: (name: string) => readonly string[]
}

/**
 * Returns the origin that a `Host` header denotes. Without a header, returns '', which is not the origin of any page.
 */
export function originOf(scheme: 'http' | 'https', host: string): string {
  if (host === '') return ''
  const defaultPort = scheme === 'http' ? /:80$/ : /:443$/
  return `${scheme}://${host.replace(defaultPort, '')}`.toLowerCase()
}

/** HTTP methods that do not change data. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a request can change data: a write, or an upgrade to another protocol, through which writes could be sent.
 */
export function canChange({ method, isUpgrade }: Pick<PageRequest, 'method' | 'isUpgrade'>): boolean {
  return isUpgrade || !safeMethods.has(method)
}

/**
 * Returns why a request must be rejected: it can change data and comes from a web page of another origin that
 * `isAllowed` does not accept. Returns undefined for all other requests.
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
  // Do not check `Sec-Fetch-Site` for allowed origins. The header is `cross-site` for these origins too.
  if (origins.some(isAllowed)) return undefined
  const site = request.valuesOf('sec-fetch-site').find((value) => !ownSites.has(value.toLowerCase()))
  return site === undefined
    ? undefined
    : `a page from another origin caused the request (Sec-Fetch-Site: ${site.slice(0, maxShown)})`
}

/**
 * Whether a request comes from a program other than a browser, according to its `User-Agent` and to the absence of
 * headers that all browsers send.
 */
function isProgram({ valuesOf }: PageRequest): boolean {
  const agents = valuesOf('user-agent')
  if (agents.length !== 1 || browserAgent.test(agents[0]!) || agents[0]!.trim() === '') return false
  return browserHeaders.every((name) => valuesOf(name).length === 0)
}

const browserAgent = /^\s*(?:Mozilla|Opera)\//i
const browserHeaders = ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user', 'accept-language']

/**
 * Values of `Sec-Fetch-Site` for requests from pages of this server (`same-origin`) or directly from the user (`none`).
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
