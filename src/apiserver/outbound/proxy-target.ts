/** The target of a forwarded request, and how failures are reported to the client. */
import type { ApiError } from '../../api/model/api-error.ts'
import type { CallError } from '../../wire/http/client/call-error.ts'
import type { Destination } from './connections.ts'
import type { HttpsRelay } from './https-relay.ts'

/** The result of an endpoint that does not respond itself: the request is forwarded and the response is relayed. */
export class ForwardRequest {
  readonly target: ProxyTarget

  constructor(target: ProxyTarget) {
    this.target = target
  }
}

/** Where and how to forward a request. */
export interface ProxyTarget {
  /** The name of the backend. The number of concurrent requests per backend is limited. */
  readonly to: string
  readonly relay: HttpsRelay
  /** Returns the destination. Throws CallError if there is no address to connect to. */
  readonly destination: () => Destination | Promise<Destination>
  /** The path, including the query. */
  readonly path: string
  /** Whether to send the user's identity to the backend. */
  readonly sendsUser: boolean
  /** Whether the request must switch protocols. Defaults to false. */
  readonly mustSwitch?: boolean
  /** The SPDY subprotocol that clients can tunnel through a WebSocket. By default, there are no tunnels. */
  readonly tunneledProtocol?: string | undefined
  /**
   * Timeout in milliseconds for the start of the response. Defaults to the request's remaining time, but at most one
   * minute.
   */
  readonly timeoutMs?: number
  readonly errors: ProxyErrors
  /**
   * Rewrites the Location of a redirect. If it returns undefined, the redirect is not relayed. By default, redirects
   * are not relayed.
   */
  readonly redirect?: (location: string) => string | undefined
  /** Rewrites a link in an HTML page. By default, pages are relayed unchanged. */
  readonly link?: (link: string) => string | undefined
  /** Creates an error from an unsuccessful response. By default, unsuccessful responses are relayed unchanged. */
  readonly failure?: (status: number, text: string) => ApiError
}

/** The errors to report if the backend fails. */
export interface ProxyErrors {
  /** Returns the error if the backend did not respond. */
  readonly noAnswer: (error: CallError) => ApiError
  readonly busy: () => ApiError
  /** Returns the error if the response cannot be relayed. */
  readonly unusable: (why: string) => ApiError
}
