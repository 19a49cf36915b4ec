/** Declares the options and results of the client's methods. */
import type { Status } from '../../api/model/api-error.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { ContentForm } from './content-form.ts'
import type { Selection } from './resource-type.ts'
import type { TransportResponse } from './transport.ts'

/** Options of every method. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** Options for reading one object. */
export interface GetOptions extends CallOptions {
  /** Subresource that returns the object itself, such as `status`. For other subresources, use `subresource`. */
  readonly subresource?: string
}

/** Options for reading any path. */
export interface ReadOptions extends CallOptions {
  readonly query?: Query
  /** Value of the Accept header. Defaults to JSON. */
  readonly accept?: string | undefined
}

/** Options for a create, update or patch. */
export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

/** Options for writing to an existing object. */
export interface UpdateOptions extends WriteOptions {
  /**
   * Subresource that returns the object itself, such as `status` or `finalize`. For other subresources, use
   * `subresource`.
   */
  readonly subresource?: string
}

/** Selection and paging of a list. */
export interface ListOptions extends Selection, CallOptions {
  /** Page size. 0 disables paging. Defaults to 500. */
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Fields of each object to return, such as `metadata.name,spec.nodeName`. Only `orch` supports this option. */
  readonly fields?: string
  /** Fields to sort by, such as `-metadata.creationTimestamp`. Only `orch` supports this option. */
  readonly sort?: string
  /** Value of the Accept header. Defaults to JSON. */
  readonly accept?: string | undefined
}

/** Options for listing page by page. */
export interface PagesOptions extends ListOptions {
  /**
   * Called when the pages expire before the last page has been read. The list then restarts without paging, and earlier
   * pages are invalid. Without this callback, the list throws 410.
   */
  readonly onRestart?: () => void
}

/** Options for a server-side apply. */
export interface ApplyOptions extends UpdateOptions {
  /** Field manager of the applied fields. */
  readonly fieldManager: string
  /** Whether to take over fields of other managers instead of failing with a conflict. */
  readonly force?: boolean
}

/** Options for a deletion. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** A patch in one of the four formats. */
export type Patch =
  | { readonly merge: object }
  | { readonly strategic: object }
  | { readonly json: readonly object[] }
  /** Server-side apply requires a `fieldManager`. `force` takes over fields of other managers. */
  | { readonly apply: object; readonly force?: boolean }

/** Result of a deletion: the object if finalizers prevent its removal, and usually a Status otherwise. */
export type Deleted<T extends ObjectBase> = T | Status

/** The objects of a list, at one resource version of the collection. */
export interface List<T> {
  readonly items: T[]
  readonly resourceVersion: string
}

/** A page of a list. */
export interface ListPage<T> extends List<T> {
  /** Token of the next page, or '' on the last page. */
  readonly continueToken: string
}

/** A request to any path, for the method `open`. */
export interface RawRequest extends CallOptions {
  readonly method: string
  readonly path: string
  /** Additional headers with lower-case names. */
  readonly headers?: { readonly [name: string]: string }
  /** Called with the headers of every response, including errors. */
  readonly onHeaders?: (headers: TransportResponse['headers']) => void
  readonly query?: Query
  readonly body?: unknown
  readonly contentType?: string
  /** Value of the Accept header. Defaults to JSON. */
  readonly accept?: string | undefined
}

export type Query = { readonly [name: string]: string | number | boolean | undefined }

/** Options for all requests of a client. */
export interface ClientOptions {
  /** User agent, whose first word is the default field manager of writes. */
  readonly userAgent?: string
  /** Request timeout in milliseconds. Watches are not limited. */
  readonly timeoutMs?: number
  /** Preferred content type. Defaults to JSON. */
  readonly form?: ContentForm | undefined
  /** Namespace of the kubeconfig. */
  readonly namespace?: string | undefined
  /** Closes the connections. The client calls this function when it is closed. */
  readonly onClose?: () => void
}
