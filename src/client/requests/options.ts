/** What the client's verbs are given and return, beside the objects themselves. */
import type { Status } from '../../api/model/api-error.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { ContentForm } from './content-form.ts'
import type { Selection } from './resource-type.ts'
import type { TransportResponse } from './transport.ts'

/** The options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** The options of a read of one object. */
export interface GetOptions extends CallOptions {
  /** `status`, ...: those that show the object itself. Others are types of their own: `subresource`. */
  readonly subresource?: string
}

/** The options of a read below the verbs. */
export interface ReadOptions extends CallOptions {
  readonly query?: Query
  /** The form of the answer; JSON if left out. */
  readonly accept?: string | undefined
}

/** The options of a create, update or patch. */
export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

/** The options of a write to an object that exists. */
export interface UpdateOptions extends WriteOptions {
  /** `status`, `finalize`, ...: those that show the object itself. Others are types of their own: `subresource`. */
  readonly subresource?: string
}

/** Which objects of a collection, and how they are listed. */
export interface ListOptions extends Selection, CallOptions {
  /** The most objects in one answer; 0: all at once. 500 if left out. */
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** The form of the answer; JSON if left out. */
  readonly accept?: string | undefined
}

/** The options of a list that is read page by page. */
export interface PagesOptions extends ListOptions {
  /**
   * Called when the pages have expired before the last was read: the list starts over in one piece, and what came before
   * is void. Without it such a list throws 410.
   */
  readonly onRestart?: () => void
}

/** The options of a server-side apply. */
export interface ApplyOptions extends UpdateOptions {
  /** Who owns the fields that are applied. */
  readonly fieldManager: string
  /** Whether fields are taken that others own; else that is a conflict. */
  readonly force?: boolean
}

/** The options of a deletion. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** A patch in one of the four forms. */
export type Patch =
  | { readonly merge: object }
  | { readonly strategic: object }
  | { readonly json: readonly object[] }
  /** Server-side apply needs a `fieldManager`; `force` takes fields that others own. */
  | { readonly apply: object; readonly force?: boolean }

/** What a deletion answers with: the object where it stays until its finalizers are done, else mostly a Status. */
export type Deleted<T extends ObjectBase> = T | Status

/** Objects as of one version of the collection. */
export interface List<T> {
  readonly items: T[]
  readonly resourceVersion: string
}

/** Some objects of a list. */
export interface ListPage<T> extends List<T> {
  /** Where the next page goes on; '' after the last one. */
  readonly continueToken: string
}

/** A request below the verbs: what `open` sends. */
export interface RawRequest extends CallOptions {
  readonly method: string
  readonly path: string
  /** Further headers, their names in lower case. */
  readonly headers?: { readonly [name: string]: string }
  /** Sees the headers of the answer, also of a refusal. */
  readonly onHeaders?: (headers: TransportResponse['headers']) => void
  readonly query?: Query
  readonly body?: unknown
  readonly contentType?: string
  /** The form of the answer; JSON if left out. */
  readonly accept?: string | undefined
}

export type Query = { readonly [name: string]: string | number | boolean | undefined }

/** What a client sends with all requests, and how long it waits. */
export interface ClientOptions {
  /** Its first word is the manager of fields that are written without naming one. */
  readonly userAgent?: string
  /** How long an answer may take; watches are not bound by it. */
  readonly timeoutMs?: number
  /** What objects are sent and asked for in, where that is not JSON alone. */
  readonly form?: ContentForm | undefined
  /** The namespace that the user's client config names. */
  readonly namespace?: string | undefined
  /** Ends the connections when the client is closed. */
  readonly onClose?: () => void
}
