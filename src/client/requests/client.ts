/**
 * The client: the verbs of the API on a resource type, over any transport. Runs in Node and in browsers.
 *
 * A refusal is thrown as a StatusError, a missing answer as a TransportError. Nothing is sent again here, except that a
 * list whose pages have expired starts over and a watch that breaks is resumed; `retries.ts` is a transport that repeats
 * what the server asks to repeat.
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
/** Above the minute that the server gives a request, so that its answer counts and not our impatience. */
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
  /** The namespace to work in where the user names none. */
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

  /** Cuts off what is under way, where the client has a connection of its own. */
  close(): void {
    this.#onClose()
  }

  /** The same client, whose objects travel in another form. */
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

  /** All objects of a selection, as of one version, in as many requests as it takes. */
  async list<T extends ObjectBase = ApiObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<List<T>> {
    // The state of a version that has gone cannot be listed again.
    if (options.resourceVersion !== undefined) return await gather(() => this.pages(type, options))
    return await gather((onRestart) => this.pages(type, { ...options, onRestart }))
  }

  /** The same page by page. A page that comes too late throws 410, unless `onRestart` says what to do with the others. */
  async *pages<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    options: PagesOptions = {},
  ): AsyncGenerator<ListPage<T>> {
    try {
      yield* this.#pages(type, options)
    } catch (error) {
      if (!isExpired(error) || options.onRestart === undefined || options.limit === 0) throw error
      options.onRestart()
      // What expired is the snapshot that the pages are cut from. A list in one piece cannot expire.
      yield* this.#pages(type, { ...options, limit: 0 })
    }
  }

  /**
   * The changes of a selection, for as long as the caller reads and the signal lets it: a watch that ends or breaks is
   * resumed where it was. Throws 410 where that is no longer possible: then the caller lists again. Without a version
   * all that there is comes first, as ADDED.
   */
  watch<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    options: FollowOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    return follow(this, type, options)
  }

  /** Creates an object in the namespace that it names; of a sub-resource, that of the object which it names. */
  async create<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    object: Draft<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const resolved = await this.resolve(type, options)
    const body = typed(resolved, object)
    const isPart = type.subresource !== undefined
    const path = isPart ? objectPath(resolved, nameOf(body)) : creationPath(resolved, body.metadata)
    return await this.#call({ method: 'POST', path, query: writeQuery(options), body, signal: options.signal })
  }

  /** Replaces the object. With its resourceVersion set it fails with a conflict if someone changed it since. */
  async update<T extends ObjectBase = ApiObject>(
    type: ResourceType<T>,
    object: Draft<T>,
    options: UpdateOptions = {},
  ): Promise<T> {
    const resolved = await this.resolve(type, options)
    const body = typed(resolved, object)
    const path = objectPath(resolved, nameOf(body), options.subresource)
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

  /** Server-side apply: the object gets the fields that are stated here, and those that were and are no more go. */
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

  /** Deletes all of a selection, some at a time. Some may stay for a while, held by finalizers. */
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

  /** What stands at a path, whatever it is: discovery, the version, objects in another form. */
  async read<T>(path: string, options: ReadOptions = {}): Promise<T> {
    return await this.#call({ method: 'GET', path, ...options })
  }

  /** Any request: the answer as it comes, once its status says yes. For streams, and for paths without a type. */
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

  /** The type as this server names it: the groups of built-in kinds end in the server's domain, asked for once. */
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
    return this.form === undefined ? jsonType : `${this.form.mediaType},${jsonType}`
  }

  /** What is sent in a type of its own, such as a patch, is JSON. */
  #content({ body, contentType }: RawRequest): { body: Uint8Array | undefined; contentType: string } {
    if (body === undefined) return { body, contentType: '' }
    const written = contentType === undefined ? this.form?.write(body as object) : undefined
    if (written !== undefined) return { body: written, contentType: this.form!.mediaType }
    return { body: bytesOfText(stringifyJson(body)), contentType: contentType ?? jsonType }
  }

  async #call<T>(request: RawRequest): Promise<T> {
    const late = () => new TransportError(`${request.method} ${request.path} was not answered in time`)
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
