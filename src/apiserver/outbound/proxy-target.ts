/** Describes the destination of a forwarded request, and the errors that the client receives if forwarding fails. */
import type { ApiError } from '../../api/model/api-error.ts'
import type { CallError } from '../../wire/http/client/call-error.ts'
import type { CommandOptions } from '../../wire/streaming/command.ts'
import type { Destination } from './connections.ts'
import type { HttpsRelay } from './https-relay.ts'

/** The result of an endpoint that forwards the request to another server instead of responding to it. */
export class ForwardRequest {
  readonly target: ProxyTarget

  constructor(target: ProxyTarget) {
    this.target = target
  }
}

/** The kinds of connection that a client can open through a WebSocket although the backend speaks only SPDY. */
export type SpdyBackend =
  | { readonly protocol: 'portforward.k8s.io' }
  | { readonly protocol: 'v4.channel.k8s.io'; readonly command: CommandOptions }

/** The destination of a forwarded request, with the changes to make to the response. */
export interface ProxyTarget {
  /** The name of the backend. The number of concurrent requests to each backend is limited. */
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
  /** The SPDY connection that clients can open through a WebSocket. Undefined if WebSockets are not translated. */
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
  /** Converts a response with an error status into an error. By default, such responses are relayed unchanged. */
  readonly failure?: (status: number, text: string) => ApiError
}

/** The errors that a client receives if the backend fails. */
export interface ProxyErrors {
  /** Returns the error for a backend that did not respond. */
  readonly noAnswer: (error: CallError) => ApiError
  readonly busy: () => ApiError
  /** Returns the error for a response that cannot be relayed. */
  readonly unusable: (why: string) => ApiError
}
