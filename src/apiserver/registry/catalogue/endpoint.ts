/**
 * Endpoints that answer requests without storing an object: reviews (`tokenreviews`), actions on an object (`/token`,
 * `/eviction`) and connections to a node (`/log`, `/exec`). Each is defined in one file in `resources/`. Discovery,
 * OpenAPI, authorization and admission derive everything else from that definition (`served.ts`).
 */
import type { ApiObject } from '../../../api/model/object.ts'
import type { User } from '../../../api/model/user.ts'
import type { Verb } from '../../../api/model/verb.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Availability } from '../../../api/versions/availability.ts'
import type { ForwardRequest } from '../../outbound/proxy-target.ts'

/** `T` is the type of the request body. An endpoint receives only objects of the kinds that it accepts. */
export interface Endpoint<T = ApiObject | undefined> extends Availability {
  /** The kind that it serves, or the parent kind of its subresource. */
  readonly kind: Kind
  /** Name of the subresource; '' if it serves the kind itself. */
  readonly subresource: string
  readonly verbs: readonly Verb[]
  /** Kind of the request and response bodies, if it differs from `kind`. */
  readonly type: Kind | undefined
  /** Other accepted versions of that kind. */
  readonly alsoTakes?: readonly Kind[]
  /**
   * The admission operation: CREATE for the body, CONNECT for a connection. Undefined for reads, which skip admission.
   */
  readonly admits: 'CREATE' | 'CONNECT' | undefined
  /** Connection options, which are read from the query. The request body is not read. */
  readonly connects?: Connection
  /** Whether the response is a text stream, which clients may also request over a WebSocket. */
  readonly streamsText?: boolean
  /** Whether the response names the field manager that sent the object, as for a stored object. */
  readonly recordsManager?: boolean
  /** Description in one sentence. */
  readonly doc: string
  /**
   * Returns the response object, undefined for an empty response, or a target to which the request is forwarded. Throws
   * ApiError to reject the request.
   */
  answer(request: EndpointRequest<T>): EndpointAnswer | Promise<EndpointAnswer>
}

/** An object, nothing, or a server to which the request is forwarded. */
export type EndpointAnswer = ApiObject | ForwardRequest | undefined

/** Options of a connection, as shown in discovery and to admission. */
export interface Connection {
  /** Kind of the options, such as `PodExecOptions`. */
  readonly kind: string
  readonly options: { readonly [name: string]: 'text' | 'texts' | 'flag' | 'numbers' }
  /** Whether the URL may continue with a path for the backend. The path is passed as the option `path`. */
  readonly takesPath?: boolean
  /**
   * Whether a connection requires the permission to create, whatever the HTTP method, because it does more than read.
   */
  readonly needsCreate?: boolean
}

/** A request to an endpoint. */
export interface EndpointRequest<T = ApiObject | undefined> {
  readonly verb: Verb
  readonly user: User
  /** '' for cluster-scoped kinds. */
  readonly namespace: string
  /** Name of the parent object; '' if the endpoint serves the kind itself. */
  readonly name: string
  readonly query: URLSearchParams
  /** The request path, and the part after the subresource with the query. Both are unmodified. */
  readonly path: string
  readonly below: string
  readonly dryRun: boolean
  /** The request body: decoded, defaulted, validated and admitted. Undefined if the endpoint takes no body. */
  readonly object: T
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void
  /** Returns a signal that aborts when the caller has given up on the request. */
  readonly abandoned: () => AbortSignal
}
