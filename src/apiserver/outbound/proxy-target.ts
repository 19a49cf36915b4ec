/** The target of a forwarded request, and how failures are reported to the client. */
import type { ApiError } from '../../api/model/api-error.ts'
import type { CallError } from '../../wire/http/client/call-error.ts'
import type { Destination } from './connections.ts'
import type { HttpsRelay } from './https-relay.ts'

/** Returned instead of a response: forwards the request and relays the response. */
export class ForwardRequest {
  readonly target: ProxyTarget

  constructor(target: ProxyTarget) {
    this.target = target
  }
}

/** Where and how to forward a request. */
export interface ProxyTarget {
  /** Name of the backend. Concurrent requests per backend are limited. */
  readonly to: string
  readonly relay: HttpsRelay
  /** Throws CallError if there is no address to connect to. */
  readonly destination: () => Destination | Promise<Destination>
  /** Path including the query. */
  readonly path: string
  /** Whether to send the user's identity to the backend. */
  readonly sendsUser: boolean
  /** Whether the request must switch protocols. Defaults to false. */
  readonly mustSwitch?: boolean
  /** The SPDY subprotocol that clients can tunnel through a WebSocket. By default, there are no tunnels. */
  readonly tunneledProtocol?: string | undefined
  /** Timeout for the start of the response. Defaults to the request's remaining time, at most one minute. */
  readonly timeoutMs?: number
  readonly errors: ProxyErrors
  /**
   * Rewrites the Location of a redirect; undefined means that the redirect is not relayed. By default, no redirect is.
   */
  readonly redirect?: (location: string) => string | undefined
  /** Rewrites a link in an HTML page. By default, pages are relayed unchanged. */
  readonly link?: (link: string) => string | undefined
  /** Creates an error from an unsuccessful response. By default, such responses are relayed unchanged. */
  readonly failure?: (status: number, text: string) => ApiError
}

/** The errors to report if the backend fails. */
export interface ProxyErrors {
  /** The backend did not respond. */
  readonly noAnswer: (error: CallError) => ApiError
  readonly busy: () => ApiError
  /** The response cannot be relayed. */
  readonly unusable: (why: string) => ApiError
}
