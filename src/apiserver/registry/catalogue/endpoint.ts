/**
 * What is answered without being stored: a review (`tokenreviews`), an action on an object (`/token`, `/eviction`), a
 * way through to a node (`/log`, `/exec`). Each is one file in `resources/`; what it is served as (`served.ts`),
 * discovery, OpenAPI, authorization and admission need no further word from it.
 */
import type { ApiObject } from '../../../api/model/object.ts'
import type { User } from '../../../api/model/user.ts'
import type { Verb } from '../../../api/model/verb.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { PassOn } from '../../outbound/passage.ts'

/** `T` is the type of what is sent; an endpoint is asked only with objects of the kind that it takes. */
export interface Endpoint<T = ApiObject | undefined> {
  /** The kind that it answers for, or whose sub-resource it is. */
  readonly kind: Kind
  /** The name of the sub-resource; '' where it answers for the kind itself. */
  readonly subresource: string
  readonly verbs: readonly Verb[]
  /** The kind that is sent and answered, where it is another one. */
  readonly type: Kind | undefined
  /** Other versions of that kind, which are taken as well. */
  readonly alsoTakes?: readonly Kind[]
  /** What admission is asked about: the object that is sent, or the connection that is wanted; a reading is not. */
  readonly admits: 'CREATE' | 'CONNECT' | undefined
  /** For a way through: its options, which stand in the query. Nothing that is sent is read. */
  readonly connects?: Connection
  /** Whether it answers with a stream of text, which clients may also ask for over a WebSocket. */
  readonly streamsText?: boolean
  /** What it is for, in a sentence. */
  readonly doc: string
  /** Returns the answer, or undefined where there is nothing to say, or where to pass the request on; throws ApiError to refuse. */
  answer(request: EndpointRequest<T>): EndpointAnswer | Promise<EndpointAnswer>
}

/** An object, nothing, or the way on to another server that answers. */
export type EndpointAnswer = ApiObject | PassOn | undefined

/** The options of a way through to somewhere else, as discovery and admission see them. */
export interface Connection {
  /** The kind of the options: `PodExecOptions`. */
  readonly kind: string
  readonly options: { readonly [name: string]: 'text' | 'texts' | 'flag' | 'numbers' }
  /** Whether a path may follow, which is meant for whoever is there. It is the option `path`. */
  readonly takesPath?: boolean
  /** Whether more is done than read, by whatever method: then the right to create is needed. */
  readonly needsCreate?: boolean
}

/** A request as an endpoint sees it. */
export interface EndpointRequest<T = ApiObject | undefined> {
  readonly verb: Verb
  readonly user: User
  /** '' for kinds without namespaces. */
  readonly namespace: string
  /** Of the object whose sub-resource it is; '' for the kind itself. */
  readonly name: string
  readonly query: URLSearchParams
  /** The path of the request itself, and what follows the sub-resource in it, with the query: both as they were sent. */
  readonly path: string
  readonly below: string
  readonly dryRun: boolean
  /** What was sent: decoded, defaulted, valid and admitted. Undefined where nothing is sent. */
  readonly object: T
  /** Tells the caller something beside the answer. */
  readonly warn: (text: string) => void
  /** Gives a signal that aborts when the caller no longer waits for the answer. */
  readonly abandoned: () => AbortSignal
}
