/**
 * The client: the verbs of the API on a resource type, over any transport. Runs in Node and in browsers.
 *
 * A refusal is thrown as a StatusError, a missing answer as a TransportError. Nothing is tried again here, except
 * that a list whose pages have expired starts over: the caller knows what may be repeated. Watches are in `watch.ts`.
 */
import { withDeadline } from '../base/abort.ts'
import type { Status } from '../model/api-error.ts'
import type { ApiObject } from '../model/object.ts'
import { joined } from './chunks.ts'
import type { ContentForm } from './content-form.ts'
import { parseJson, stringifyJson } from './json.ts'
import { collectionPath, type ObjectName, objectPath, type ResourceType, type Selection } from './resource-type.ts'
import { errorOf, isExpired } from './status-error.ts'
import { type Transport, TransportError, type TransportResponse } from './transport.ts'

/** The options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

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
  /** `status`, `finalize`, ... */
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
  | { readonly apply: ApiObject; readonly force?: boolean }

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

const defaultLimit = 500
const jsonType = 'application/json'
/** Above the minute that the server gives a request, so that its answer counts and not our impatience. */
const defaultTimeoutMs = 70_000

/** Reads, writes and watches objects of a server. */
export class Client {
  readonly #transport: Transport
  readonly #userAgent: string
  readonly #timeoutMs: number
  readonly #onClose: () => void
  readonly form: ContentForm | undefined
  /** The namespace to work in where the user names none. */
  readonly namespace: string

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.#transport = transport
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

  async get<T extends ApiObject>(type: ResourceType<T>, name: ObjectName, options: CallOptions = {}): Promise<T> {
    return await this.#call({ method: 'GET', path: objectPath(type, name), signal: options.signal })
  }

  /** All objects of a selection, as of one version, in as many requests as it takes. */
  async list<T extends ApiObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<List<T>> {
    try {
      return await gather(this.pages(type, options))
    } catch (error) {
      // What expired is the snapshot that the pages are cut from. A list in one piece cannot expire.
      if (!isExpired(error) || options.limit === 0 || options.resourceVersion !== undefined) throw error
      return await gather(this.pages(type, { ...options, limit: 0 }))
    }
  }

  /** The same page by page. A page that comes too late throws 410. */
  async *pages<T extends ApiObject>(type: ResourceType<T>, options: ListOptions = {}): AsyncGenerator<ListPage<T>> {
    const { namespace, resourceVersion, resourceVersionMatch, accept, signal } = options
    const path = collectionPath(type, namespace)
    let continueToken = ''
    do {
      const version = continueToken === '' ? { resourceVersion, resourceVersionMatch } : {}
      const query = { ...pageQuery(options, continueToken), ...version }
      const page = readPage<T>(await this.#call({ method: 'GET', path, query, accept, signal }))
      yield page
      continueToken = page.continueToken
    } while (continueToken !== '')
  }

  /** In the object's own namespace. */
  async create<T extends ApiObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = collectionPath(type, object.metadata.namespace)
    return await this.#call({
      method: 'POST',
      path,
      query: writeQuery(options),
      body: object,
      signal: options.signal,
    })
  }

  /** Replaces the object. With its resourceVersion set it fails with a conflict if someone changed it since. */
  async update<T extends ApiObject>(type: ResourceType<T>, object: T, options: UpdateOptions = {}): Promise<T> {
    const path = objectPath(type, nameOf(object), options.subresource)
    return await this.#call({ method: 'PUT', path, query: writeQuery(options), body: object, signal: options.signal })
  }

  async patch<T extends ApiObject>(
    type: ResourceType<T>,
    name: ObjectName,
    { patch, ...options }: UpdateOptions & { readonly patch: Patch },
  ): Promise<T> {
    const { contentType, body, force } = patchBody(patch)
    const query = { ...writeQuery(options), force }
    const path = objectPath(type, name, options.subresource)
    return await this.#call({ method: 'PATCH', path, query, body, contentType, signal: options.signal })
  }

  /** What the server answers: the object where it stays until its finalizers are done, else mostly a Status. */
  async delete<T extends ApiObject>(
    type: ResourceType<T>,
    name: ObjectName,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    const path = objectPath(type, name)
    return await this.#call({ method: 'DELETE', path, body: deleteBody(options), signal: options.signal })
  }

  /** Deletes all of a selection, some at a time. Some may stay for a while, held by finalizers. */
  async deleteCollection(
    type: ResourceType,
    { limit, namespace, labelSelector, fieldSelector, ...options }: DeleteOptions & ListOptions = {},
  ): Promise<void> {
    const path = collectionPath(type, namespace)
    let continueToken = ''
    do {
      const query = pageQuery({ limit: limit ?? defaultLimit, labelSelector, fieldSelector }, continueToken)
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
    const { body, contentType } = this.#content(request)
    const { accept = this.#accept } = request
    const response = await this.#transport({
      method: request.method,
      path: request.path + queryText(request.query),
      headers: {
        ...request.headers,
        ...{ accept, 'user-agent': this.#userAgent, ...(body && { 'content-type': contentType }) },
      },
      body,
      signal,
    })
    request.onHeaders?.(response.headers)
    if (response.status >= 400) throw await this.#errorOf(response)
    return response
  }

  get #accept(): string {
    return this.form === undefined ? jsonType : `${this.form.mediaType},${jsonType}`
  }

  /** What is sent in a type of its own, such as a patch, is JSON. */
  #content({ body, contentType }: RawRequest): { body: Uint8Array | undefined; contentType: string } {
    if (body === undefined) return { body, contentType: '' }
    const written = contentType === undefined ? this.form?.write(body as object) : undefined
    if (written !== undefined) return { body: written, contentType: this.form!.mediaType }
    return { body: new TextEncoder().encode(stringifyJson(body)), contentType: contentType ?? jsonType }
  }

  async #errorOf(response: TransportResponse): Promise<Error> {
    if (!isIn(this.form, response)) return errorOf(response.status, await readText(response))
    return errorOf(response.status, stringifyJson(this.form!.read(await readBytes(response))))
  }

  async #read(response: TransportResponse): Promise<unknown> {
    return isIn(this.form, response) ? this.form!.read(await readBytes(response)) : parseJson(await readText(response))
  }

  async #call<T>(request: RawRequest): Promise<T> {
    const late = () => new TransportError(`${request.method} ${request.path} was not answered in time`)
    return await withDeadline({ ms: this.#timeoutMs, outer: request.signal, late }, async (signal) => {
      return (await this.#read(await this.open({ ...request, signal }))) as T
    })
  }
}

function nameOf({ metadata }: ApiObject): ObjectName {
  const { namespace, name = '' } = metadata
  return namespace === undefined ? { name } : { namespace, name }
}

async function gather<T>(pages: AsyncIterable<ListPage<T>>): Promise<List<T>> {
  const items: T[] = []
  let resourceVersion = ''
  for await (const page of pages) {
    for (const item of page.items) items.push(item)
    resourceVersion = page.resourceVersion
  }
  return { items, resourceVersion }
}

interface ListBody<T> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly T[] | null
}

/** Items of a list come without apiVersion and kind; here they have them, as they have from everywhere else. */
function readPage<T>({ apiVersion, kind, metadata, items }: ListBody<T>): ListPage<T> {
  const type = { kind: kind.replace(/List$/, ''), apiVersion }
  return {
    items: (items ?? []).map((item) => ({ ...type, ...item })),
    resourceVersion: metadata.resourceVersion ?? '',
    continueToken: metadata.continue ?? '',
  }
}

function pageQuery(
  { limit = defaultLimit, labelSelector, fieldSelector }: { [K in keyof ListOptions]?: ListOptions[K] | undefined },
  continueToken: string,
): Query {
  return { labelSelector, fieldSelector, limit: limit || undefined, continue: continueToken || undefined }
}

function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): Query {
  return { dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation }
}

function deleteBody({ signal: _, dryRun, ...options }: DeleteOptions): object {
  return { kind: 'DeleteOptions', apiVersion: 'v1', ...options, ...(dryRun ? { dryRun: ['All'] } : {}) }
}

function patchBody(patch: Patch): { contentType: string; body: unknown; force?: boolean } {
  if ('merge' in patch) return { contentType: 'application/merge-patch+json', body: patch.merge }
  if ('strategic' in patch) return { contentType: 'application/strategic-merge-patch+json', body: patch.strategic }
  if ('json' in patch) return { contentType: 'application/json-patch+json', body: patch.json }
  // JSON is YAML too.
  const { apply, force } = patch
  return { contentType: 'application/apply-patch+yaml', body: apply, ...(force === undefined ? {} : { force }) }
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

const maxAnswerBytes = 256 * 1024 * 1024

/** Whether an answer came in this form. */
export function isIn(form: ContentForm | undefined, { headers }: TransportResponse): boolean {
  return form !== undefined && (headers['content-type'] ?? '').startsWith(form.mediaType)
}

async function readText({ body }: TransportResponse): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for await (const chunk of bounded(body)) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

async function readBytes({ body }: TransportResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bounded(body)) chunks.push(chunk)
  return joined(chunks)
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new TransportError(`the answer is longer than ${maxAnswerBytes} bytes`)
    yield chunk
  }
}
