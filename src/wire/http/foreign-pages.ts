/**
 * Decides whether a request was caused by a web page of another origin, from the headers that browsers add and that no
 * page can set: `Origin` and `Sec-Fetch-Site`. A browser attaches client certificates, and the credentials of a local
 * proxy, whichever page causes the request, so these headers are the only evidence.
 *
 * Most programs send none of these headers. Some libraries for WebSockets make up an `Origin`; they are told apart by a
 * `User-Agent` that no browser sends, which no page can change in a request that a browser sends without asking first.
 * Another port of the same host is another origin.
 */

/** The parts of a request that show who caused it. */
export interface PageRequest {
  readonly method: string
  /** Whether the request asks to switch protocols, as WebSockets do. */
  readonly isUpgrade: boolean
  /** The origin under which the client reached this server, such as `https://127.0.0.1:6443`. */
  readonly ownOrigin: string
  /** All values of a header, whose name is given in lower case. */
  readonly valuesOf: (name: string) => readonly string[]
}

/** The origin of a server that clients reach under this `Host`; '', which is no origin, where they name no host. */
export function originOf(scheme: 'http' | 'https', host: string): string {
  if (host === '') return ''
  const defaultPort = scheme === 'http' ? /:80$/ : /:443$/
  return `${scheme}://${host.replace(defaultPort, '')}`.toLowerCase()
}

/** Methods that change nothing. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether the request can change something: a write, or a connection that carries anything. */
export function canChange({ method, isUpgrade }: Pick<PageRequest, 'method' | 'isUpgrade'>): boolean {
  return isUpgrade || !safeMethods.has(method)
}

/**
 * Returns why a request that can change something is rejected, or undefined where no page of another origin caused it.
 * `isAllowed` names origins that may act like the server's own.
 */
export function foreignPageFault(
  request: PageRequest,
  isAllowed: (origin: string) => boolean = () => false,
): string | undefined {
  if (!canChange(request) || isProgram(request)) return undefined
  const origins = request.valuesOf('origin').filter((origin) => origin !== '')
  const foreign = origins.find((origin) => origin.toLowerCase() !== request.ownOrigin && !isAllowed(origin))
  if (foreign !== undefined)
    return `a page of the origin ${JSON.stringify(foreign.slice(0, maxShown))} caused the request`
  // An allowed origin is another site, and says so.
  if (origins.some(isAllowed)) return undefined
  const site = request.valuesOf('sec-fetch-site').find((value) => !ownSites.has(value.toLowerCase()))
  return site === undefined
    ? undefined
    : `a page of another origin caused the request (Sec-Fetch-Site: ${site.slice(0, maxShown)})`
}

/** Whether the client says that it is no browser, and sends nothing that only browsers send. */
function isProgram({ valuesOf }: PageRequest): boolean {
  const agents = valuesOf('user-agent')
  if (agents.length !== 1 || browserAgent.test(agents[0]!) || agents[0]!.trim() === '') return false
  return browserHeaders.every((name) => valuesOf(name).length === 0)
}

const browserAgent = /^\s*(?:Mozilla|Opera)\//i
const browserHeaders = ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user', 'accept-language']

/** `none`: the user caused the request, and no page. */
const ownSites: ReadonlySet<string> = new Set(['same-origin', 'none'])
const maxShown = 100

/** Whether a browser asks for the script of a service worker, which would answer for every page of the origin. */
export function asksForServiceWorker(request: Pick<PageRequest, 'valuesOf'>): boolean {
  return request.valuesOf('service-worker').length > 0
}
