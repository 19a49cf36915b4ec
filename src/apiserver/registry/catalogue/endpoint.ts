/**
 * Defines endpoints, which respond to requests without storing an object. Examples are reviews (`tokenreviews`),
 * actions on an object (`/token`, `/eviction`) and connections to a node (`/log`, `/exec`). Each endpoint is defined in
 * one file in `resources/`. Everything that discovery, OpenAPI, authorization and admission need is derived from that
 * definition (`served.ts`).
 */
import type { ApiObject } from '../../../api/model/object.ts'
import type { User } from '../../../api/model/user.ts'
import type { Verb } from '../../../api/model/verb.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Availability } from '../../../api/versions/availability.ts'
import type { ForwardRequest } from '../../outbound/proxy-target.ts'

/**
 * An endpoint that responds to requests without storing an object. `T` is the type of the request body, which the
 * server decodes and validates before it calls the endpoint.
 */
export interface Endpoint<T = ApiObject | undefined> extends Availability {
  /** The kind of the endpoint. For a subresource, the kind of the parent object. */
  readonly kind: Kind
  /** The name of the subresource. Empty if the endpoint is not a subresource. */
  readonly subresource: string
  readonly verbs: readonly Verb[]
  /** The kind of the request and response bodies, if it differs from `kind`. */
  readonly type: Kind | undefined
  /** Additional versions of the kind that clients may send as the request body. */
  readonly alsoTakes?: readonly Kind[]
  /**
   * The admission operation: CREATE for a request with a body, CONNECT for a connection. Undefined for reads, which
   * skip admission.
   */
  readonly admits: 'CREATE' | 'CONNECT' | undefined
  /**
   * The query parameters of an endpoint that opens a connection. The server does not read the request body, but leaves
   * it to the endpoint.
   */
  readonly connects?: Connection
  /** Whether the response is a text stream, which clients may also request over a WebSocket. */
  readonly streamsText?: boolean
  /** Whether the response contains managedFields with the request's field manager, as if the object had been stored. */
  readonly recordsManager?: boolean
  /** A one-sentence description for the API documentation. */
  readonly doc: string
  /**
   * Handles a request. Returns the response object, undefined for an empty response, or the target to forward the
   * request to. Throws ApiError to reject the request.
   */
  answer(request: EndpointRequest<T>): EndpointAnswer | Promise<EndpointAnswer>
}

/** The result of an endpoint: an object, nothing, or a server to forward the request to. */
export type EndpointAnswer = ApiObject | ForwardRequest | undefined

/** The query parameters of a connection. Discovery and admission treat them as an object of their own kind. */
export interface Connection {
  /** The kind of the options, such as `PodExecOptions`. */
  readonly kind: string
  readonly options: { readonly [name: string]: 'text' | 'texts' | 'flag' | 'numbers' }
  /**
   * Whether the URL may continue with a path to request from the backend. The connection gets this path as the option
   * `path`.
   */
  readonly takesPath?: boolean
  /**
   * Whether a connection always requires the `create` permission, regardless of its HTTP method. True for connections
   * that can do more than read.
   */
  readonly needsCreate?: boolean
}

/** A request to an endpoint, after parsing and authentication. */
export interface EndpointRequest<T = ApiObject | undefined> {
  readonly verb: Verb
  readonly user: User
  /** The namespace of the request. Empty for cluster-scoped kinds. */
  readonly namespace: string
  /** The name of the parent object. Empty if the endpoint is not a subresource. */
  readonly name: string
  readonly query: URLSearchParams
  /** The unmodified request path. */
  readonly path: string
  readonly below: string
  readonly dryRun: boolean
  /**
   * The request body after decoding, defaulting, validation and admission. Undefined if the endpoint reads no request
   * body.
   */
  readonly object: T
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void
  /** Returns a signal that aborts when the caller no longer waits for the response. */
  readonly abandoned: () => AbortSignal
}
