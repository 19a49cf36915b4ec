/**
 * The client implements the API verbs on a resource type over any transport. It runs in Node.js and in browsers.
 *
 * An error response is thrown as a StatusError, and a missing response as a TransportError. The client does not retry,
 * with two exceptions: it restarts a list whose pages have expired, and resumes a broken watch. The transport in
 * `retries.ts` retries requests when the server asks for a retry.
 */

import { stringifyJson } from '../../api/json/portable-json.ts'
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { withDeadline } from '../../base/concurrency/abort.ts'
import { readDocument, readError } from './answers.ts'
import type { ContentForm } from './content-form.ts'
import { ServerDomain } from './domain.ts'
import { checkExact, gather, type ListBody, readPage } from './lists.ts'
import type {
  ApplyOptions,
  CallOptions,
  ClientOptions,
  Deleted,
  DeleteOptions,
  GetOptions,
  List,
  ListOptions,
  ListPage,
  PagesOptions,
  Patch,
  RawRequest,
  ReadOptions,
  UpdateOptions,
  WriteOptions,
} from './options.ts'
import { deleteBody, pageQuery, patchBody, queryText, writeQuery } from './requests.ts'
import {
  collectionPath,
  creationPath,
  type Draft,
  nameOf,
  type ObjectName,
  objectPath,
  type ResourceType,
  typed,
} from './resource-type.ts'
import { type FollowOptions, follow } from './resume-watch.ts'
import { isExpired } from './status-error.ts'
import { bytesOfText } from './text-bytes.ts'
import { ofRequest, requestLine, type Transport, TransportError, type TransportResponse } from './transport.ts'
import type { WatchEvent } from './watch.ts'

export type * from './options.ts'

const jsonType = 'application/json'
/**
 * Longer than the server's own timeout of one minute, so that callers receive the server's response rather than a
 * client timeout.
 */
const defaultTimeoutMs = 70_000

/** Reads, writes and watches objects of a server. */
export class Client {
  readonly #transport: Transport
  readonly #options: ClientOptions
  readonly #userAgent: string
  readonly #timeoutMs: number
  readonly #onClose: () => void
  readonly #domain = new ServerDomain((path, options) => this.read(path, options))
  readonly form: ContentForm | undefined
  /** Namespace for callers that do not specify one. */
  readonly namespace: string

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.#transport = transport
    this.#options = options
    this.#userAgent = options.userAgent ?? 'orch'
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs
    this.#onClose = options.onClose ?? (() => {})
    this.form = options.form
    this.namespace = options.namespace ?? 'default'
  }

  /** Aborts active requests and closes the connections that the client owns. */
  close(): void {
    this.#onClose()
  }

  /** Returns the same client with another content type. */
  withForm(form: ContentForm): Client {
    return new Client(this.#transport, { ...this.#options, form })
  }

  async get<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    name: ObjectName,
    options: GetOptions = {},
  ): Promise<T> {
    const { subresource, signal } = options
    const path = objectPath(await this.resolve(type, options), name, subresource)
    return await this.#call({ method: 'GET', path, signal })
  }

  /** Lists all objects of a selection at one resource version, in as many requests as necessary. */
  async list<T extends ObjectBase = ApiObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<List<T>> {
    // A list of one particular version cannot be repeated once that version has expired.
    if (options.resourceVersion !== undefined) return await gather(() => this.pages(type, options))
    return await gather((onRestart) => this.pages(type, { ...options, onRestart }))
  }

  /** Lists page by page. If a page has expired, throws 410 unless `onRestart` is set. */
  async *pages<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    options: PagesOptions = {},
  ): AsyncGenerator<ListPage<T>> {
    try {
      yield* this.#pages(type, options)
    } catch (error) {
      if (!isExpired(error) || options.onRestart === undefined || options.limit === 0) throw error
      options.onRestart()
      // The pages have expired. Request the list as a whole, because such a list cannot expire.
      yield* this.#pages(type, { ...options, limit: 0 })
    }
  }

  /**
   * Watches a selection until the caller stops reading or the signal aborts. A watch that ends or breaks is resumed. If
   * the watch cannot be resumed, throws 410, and the caller must list again. Without a version, the watch starts with
   * an ADDED event for each existing object.
   */
  watch<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    options: FollowOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    return follow(this, type, options)
  }

  /** Creates an object in its namespace. For a subresource, the object must name the parent object. */
  async create<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    object: Draft<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const resolvedType = await this.resolve(type, options)
    const body = typed(resolvedType, object)
    const isPart = type.subresource !== undefined
    const path = isPart ? objectPath(resolvedType, nameOf(body)) : creationPath(resolvedType, body.metadata)
    return await this.#call({ method: 'POST', path, query: writeQuery(options), body, signal: options.signal })
  }

  /** Replaces the object. If `resourceVersion` is set and the object has changed, fails with a conflict. */
  async update<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    object: Draft<T>,
    options: UpdateOptions = {},
  ): Promise<T> {
    const resolvedType = await this.resolve(type, options)
    const body = typed(resolvedType, object)
    const path = objectPath(resolvedType, nameOf(body), options.subresource)
    return await this.#call({ method: 'PUT', path, query: writeQuery(options), body, signal: options.signal })
  }

  async patch<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    name: ObjectName,
    { patch, ...options }: UpdateOptions & { readonly patch: Patch },
  ): Promise<T> {
    const { contentType, body, force } = patchBody(patch)
    const query = { ...writeQuery(options), force }
    const path = objectPath(await this.resolve(type, options), name, options.subresource)
    return await this.#call({ method: 'PATCH', path, query, body, contentType, signal: options.signal })
  }

  /**
   * Applies the given fields (server-side apply). Removes fields that the field manager applied before and now omits.
   */
  async apply<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    object: Draft<T>,
    options: ApplyOptions,
  ): Promise<T> {
    const { force, ...rest } = options
    const apply = typed(await this.resolve(type, options), object)
    const patch = { apply, ...(force === undefined ? {} : { force }) }
    return await this.patch(type, nameOf(apply), { ...rest, patch })
  }

  async delete<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    name: ObjectName,
    options: DeleteOptions = {},
  ): Promise<Deleted<T>> {
    const path = objectPath(await this.resolve(type, options), name)
    return await this.#call({ method: 'DELETE', path, body: deleteBody(options), signal: options.signal })
  }

  /** Deletes all objects of a selection in batches. Objects with finalizers may remain for a while. */
  async deleteCollection<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    { limit, namespace, labelSelector, fieldSelector, ...more }: DeleteOptions & ListOptions = {},
  ): Promise<void> {
    const { resourceVersion, resourceVersionMatch, ...options } = more
    const path = collectionPath(await this.resolve(type, options), namespace)
    let continueToken = ''
    do {
      const version = continueToken === '' ? { resourceVersion, resourceVersionMatch } : {}
      const query = { ...pageQuery({ limit, labelSelector, fieldSelector }, continueToken), ...version }
      const call = { method: 'DELETE', path, query, body: deleteBody(options), signal: options.signal }
      const status = await this.#call<{ metadata?: { continue?: string } }>(call)
      continueToken = status.metadata?.continue ?? ''
    } while (continueToken !== '')
  }

  /** Reads from any path, for example discovery documents, the version or objects in another format. */
  async read<T>(path: string, options: ReadOptions = {}): Promise<T> {
    return await this.#call({ method: 'GET', path, ...options })
  }

  /**
   * Sends any request and returns the response if its status indicates success. Intended for streams and for paths
   * without a type.
   */
  async open(request: RawRequest): Promise<TransportResponse> {
    const signal = request.signal ?? new AbortController().signal
    signal.throwIfAborted()
    const { body, contentType } = this.#content(request)
    const { accept = this.#accept } = request
    try {
      const response = await this.#transport({
        method: request.method,
        path: request.path + queryText(request.query),
        headers: {
          ...request.headers,
          accept,
          'user-agent': this.#userAgent,
          ...(body && { 'content-type': contentType }),
        },
        body,
        signal,
      })
      request.onHeaders?.(response.headers)
      if (response.status >= 400) throw await readError(this.form, response, requestLine(request))
      return response
    } catch (error) {
      throw ofRequest(error, { ...request, signal })
    }
  }

  /**
   * Returns the type with the name of its API group on this server. The names of built-in groups end with the server's
   * domain, which the client requests once.
   */
  async resolve<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    { signal }: CallOptions = {},
  ): Promise<ResourceType<T>> {
    return type.inServerDomain ? await this.#domain.resolve(type, signal) : type
  }

  async *#pages<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    options: ListOptions,
  ): AsyncGenerator<ListPage<T>> {
    const { namespace, resourceVersion, resourceVersionMatch, accept, signal } = options
    const path = collectionPath(await this.resolve(type, options), namespace)
    let continueToken = ''
    do {
      const version = continueToken === '' ? { resourceVersion, resourceVersionMatch } : {}
      const query = { ...pageQuery(options, continueToken), ...version }
      const page = readPage<T>(await this.#call<ListBody<T>>({ method: 'GET', path, query, accept, signal }))
      checkExact(options, page)
      yield page
      continueToken = page.continueToken
    } while (continueToken !== '')
  }

  get #accept(): string {
    const { mediaType = jsonType } = this.form ?? {}
    return mediaType === jsonType ? jsonType : `${mediaType},${jsonType}`
  }

  /** Encodes a body. A body with an explicit content type, such as a patch, is encoded as JSON. */
  #content({ body, contentType }: RawRequest): { body: Uint8Array | undefined; contentType: string } {
    if (body === undefined) return { body, contentType: '' }
    const encodedBody = contentType === undefined ? this.form?.write(body as object) : undefined
    if (encodedBody !== undefined) return { body: encodedBody, contentType: this.form!.mediaType }
    return { body: bytesOfText(stringifyJson(body)), contentType: contentType ?? jsonType }
  }

  async #call<T>(request: RawRequest): Promise<T> {
    const late = () => new TransportError(`${request.method} ${request.path} timed out`)
    return await withDeadline({ ms: this.#timeoutMs, outer: request.signal, late }, async (signal) => {
      const response = await this.open({ ...request, signal })
      try {
        return (await readDocument(this.form, response)) as T
      } catch (error) {
        throw ofRequest(error, { ...request, signal })
      }
    })
  }
}
