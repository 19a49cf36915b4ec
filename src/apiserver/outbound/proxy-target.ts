/** Describes the destination of a forwarded request, and the errors that the client receives if forwarding fails. */
import type { ApiError } from '../../api/model/api-error.ts'
import type { CallError } from '../../wire/http/client/call-error.ts'
import type { CommandOptions } from '../../wire/streaming/command.ts'
import type { Destination } from './connections.ts'
import type { HttpsRelay } from './https-relay.ts'

/** Returned by an endpoint whose request must be forwarded to another server. */
export class ForwardRequest {
  readonly target: ProxyTarget

  constructor(target: ProxyTarget) {
    this.target = target
  }
}

/** The SPDY protocols that clients can use over a WebSocket: port forwarding and remote commands. */
export type SpdyBackend =
  | { readonly protocol: 'portforward.k8s.io' }
  | { readonly protocol: 'v4.channel.k8s.io'; readonly command: CommandOptions }

/** The destination of a forwarded request, and the functions that adapt the response for the client. */
export interface ProxyTarget {
  /** The name of the backend in error messages. Limits on concurrent requests apply per name. */
  readonly to: string
  readonly relay: HttpsRelay
  /** Returns the destination. Throws CallError if the backend has no address. */
  readonly destination: () => Destination | Promise<Destination>
  /** The request path, including the query. */
  readonly path: string
  /** Whether to send the user's identity to the backend. */
  readonly sendsUser: boolean
  /** Whether the request must upgrade to another protocol. Defaults to false. */
  readonly mustSwitch?: boolean
  /**
   * The SPDY protocol into which the client's WebSocket is translated. Undefined if WebSockets are forwarded unchanged.
   */
  readonly spdyBackend?: SpdyBackend | undefined
  /**
   * Maximum wait in milliseconds for the start of the response. Defaults to the remaining time of the request, but at
   * most one minute.
   */
  readonly timeoutMs?: number
  readonly errors: ProxyErrors
  /**
   * Rewrites the Location header of a redirect. Returns undefined if the redirect must not be relayed. By default, no
   * redirects are relayed.
   */
  readonly redirect?: (location: string) => string | undefined
  /** Rewrites a link in an HTML page. By default, HTML pages are relayed unchanged. */
  readonly link?: (link: string) => string | undefined
  /** Converts an error response of the backend into a Status. By default, error responses are relayed unchanged. */
  readonly failure?: (status: number, text: string) => ApiError
}

/** The errors that a client receives if the backend fails. */
export interface ProxyErrors {
  /** Returns the error for the client if the backend did not respond. */
  readonly noAnswer: (error: CallError) => ApiError
  readonly busy: () => ApiError
  /** Returns the error for the client if the backend's response cannot be relayed. */
  readonly unusable: (why: string) => ApiError
}
