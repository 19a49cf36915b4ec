/**
 * Lists selected objects, then watches them, and passes every object to a sink. The reflector stores no objects.
 *
 * If the server supports streaming lists, a single watch returns the objects and then the changes. Otherwise the
 * reflector lists the objects page by page before it watches them. The first request of each client for a type shows
 * whether the server supports streaming lists of that type. The answer can differ between types, because the server may
 * forward requests for some types to other servers.
 *
 * A watch that ends or breaks is resumed from the last resource version, with backoff. If that version is too old, the
 * reflector lists all objects again. The sink may miss intermediate states of an object, but neither its last state nor
 * its deletion. `run` owns the connection and ends with its signal.
 */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { orAborted, pause } from '../../base/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import type { Client } from '../requests/client.ts'
import { type ResourceType, type Selection, typeName } from '../requests/resource-type.ts'
import { isExpired, StatusError } from '../requests/status-error.ts'
import { TransportError } from '../requests/transport.ts'
import { type WatchEvent, type WatchOptions, watch } from '../requests/watch.ts'

/** A change to an object, as the reflector reports it. */
type ObjectEvent<T> = Extract<WatchEvent<T>, { readonly object: T }>

/** Receives the results of a reflector's lists and watches. */
export interface ReflectorSink<T> {
  /**
   * Starts a list, possibly again after a failed list. Objects that the complete list does not contain have been
   * deleted.
   */
  beginList(): void
  endList(): void | Promise<void>
  /** Called with the current state of an object. */
  set(object: T): void
  /** Removes a deleted object. `object` is its last state. */
  remove(object: T): void
}

export interface ReflectorOptions {
  readonly selection?: Selection
  /** Called for every failure. The reflector recovers automatically. */
  readonly onError: (error: unknown) => void
  /** Called whenever a watch has been opened, which resolves any earlier failure. */
  readonly onFollowing?: () => void
  readonly backoff?: Backoff
  /**
   * Number of objects per list page. Defaults to 500. If the option is set and the pages of a list expire, the list
   * restarts page by page. The option is intended for clients that cannot store a whole list in memory.
   */
  readonly pageLimit?: number
  /**
   * Whether to request streaming lists. Defaults to true without `pageLimit`. Servers that do not support streaming
   * lists return plain lists instead.
   */
  readonly streamingLists?: boolean
  /**
   * Fields to request in lists, such as `metadata,spec.nodeName`. To be set only if the caller uses no other fields.
   * Only `orch` supports this option. Events always contain whole objects.
   */
  readonly fields?: string
  /** Media types to request for lists and for events, instead of those for whole objects. See `metadata-form.ts`. */
  readonly accept?: { readonly list: string; readonly one: string }
}

const usualBackoff: Backoff = { firstMs: 200, longestMs: 10_000 }
/**
 * Minimum duration of a watch. The actual duration is random and up to twice as long, so that watches do not all
 * restart at once.
 */
const watchSeconds = 300

/**
 * Whether the server supports streaming lists, by type and version. A promise is pending until the first request has
 * determined it.
 */
type Support = Map<string, Promise<boolean>>

const support = new WeakMap<Client, Support>()

/** Returns the map in which all reflectors of a client record whether the server supports streaming lists. */
function supportOf(client: Client): Support {
  const known = support.get(client) ?? new Map<string, Promise<boolean>>()
  support.set(client, known)
  return known
}

/** Thrown if a server accepts a request for a streaming list but ignores its parameters. */
class NotStreamed extends Error {}

/** Whether an error shows that the server does not support streaming lists of a type. */
function isUnsupported(error: unknown): boolean {
  if (error instanceof NotStreamed) return true
  return error instanceof StatusError && error.code === 422
}

/** Lists and watches all objects of a type without storing them, and lists them again if necessary. */
export class Reflector<T extends ObjectBase = ApiObject> {
  readonly type: ResourceType<T>
  /** Resolves to true when the first list is complete, or to false if `run` ends first. */
  readonly synced: Promise<boolean>
  readonly #client: Client
  readonly #sink: ReflectorSink<T>
  readonly #options: ReflectorOptions
  /** Whether the server supports streaming lists, shared with the other reflectors of the client. */
  readonly #support: Support
  readonly #supportKey: string
  #settle!: (synced: boolean) => void
  /** Resource version at which the next watch starts, or '' if the objects must be listed first. */
  #version = ''
  /**
   * Set while this reflector determines, for all reflectors, whether the server supports streaming lists of the type.
   */
  #probe: PromiseWithResolvers<boolean> | undefined
  /** Number of consecutive failed attempts. */
  #failures = 0

  constructor(
    client: Client,
    type: ResourceType<T>,
    { sink, ...options }: ReflectorOptions & { sink: ReflectorSink<T> },
  ) {
    this.#client = client
    this.type = type
    this.#sink = sink
    this.#options = options
    this.#support = supportOf(client)
    this.#supportKey = `${typeName(type)}/${type.version}`
    this.synced = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Lists and watches until the signal aborts. Must be called only once. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#failures++
      try {
        if (this.#version === '' && (await this.#streams(signal))) await this.#stream(signal)
        else await this.#listAndWatch(signal)
      } catch (error) {
        if (signal.aborted) break
        if (isExpired(error)) this.#version = ''
        else this.#options.onError(error)
      }
      await pause(this.#failures === 0 ? 0 : backoffMs(this.#options.backoff ?? usualBackoff, this.#failures), signal)
    }
    this.#settle(false)
  }

  /**
   * Whether to request a streaming list. The first reflector of a type determines whether the server supports streaming
   * lists, and all other reflectors wait for the result.
   */
  async #streams(signal: AbortSignal): Promise<boolean> {
    const { pageLimit, streamingLists = pageLimit === undefined } = this.#options
    if (!streamingLists) return false
    const isSupported = this.#support.get(this.#supportKey)
    if (isSupported !== undefined) return await orAborted(isSupported, signal)
    this.#probe = Promise.withResolvers()
    this.#support.set(this.#supportKey, this.#probe.promise)
    return true
  }

  /** Opens a watch that begins with a list. If the server does not support such a watch, lists and watches instead. */
  async #stream(signal: AbortSignal): Promise<void> {
    const probe = this.#probe
    let isOpen = false
    let isListed = false
    const onOpen = () => {
      isOpen = true
      probe?.resolve(true)
    }
    try {
      this.#sink.beginList()
      for await (const event of watch(this.#client, this.type, this.#watchOptions(signal, { onOpen }))) {
        if (isListed) this.#apply(event)
        else if (event.type !== 'BOOKMARK') this.#pass(event)
        else if (event.endsInitialEvents !== true) throw new NotStreamed('the first bookmark does not end a list')
        else {
          await this.#endStream(event.resourceVersion)
          isListed = true
        }
      }
      if (!isListed) throw new TransportError('the streaming list ended before all objects were sent')
    } catch (error) {
      if (!isUnsupported(error)) throw error
      isOpen = true
      this.#support.set(this.#supportKey, Promise.resolve(false))
      probe?.resolve(false)
      await this.#listAndWatch(signal)
    } finally {
      this.#probe = undefined
      // The request failed before a response arrived, so support for streaming lists is still unknown. The next request
      // tries again.
      if (probe !== undefined && !isOpen) this.#support.delete(this.#supportKey)
      probe?.resolve(true)
    }
  }

  async #endStream(version: string): Promise<void> {
    await this.#sink.endList()
    this.#version = version
    this.#failures = 0
    this.#settle(true)
    this.#options.onFollowing?.()
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#version === '') await this.#list(signal)
    await this.#watch(signal)
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { selection, accept, fields, pageLimit: limit } = this.#options
    const paging = limit === undefined ? { onRestart: () => this.#sink.beginList() } : { limit }
    const options = { ...selection, ...(fields !== undefined && { fields }), accept: accept?.list, signal, ...paging }
    const pages = this.#client.pages(this.type, options)
    let version = ''
    this.#sink.beginList()
    for await (const { items, resourceVersion } of pages) {
      version = resourceVersion
      for (const object of items) this.#sink.set(object)
    }
    await this.#sink.endList()
    this.#version = version
    this.#settle(true)
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { onFollowing: onOpen } = this.#options
    const options = this.#watchOptions(signal, { onOpen })
    for await (const event of watch(this.#client, this.type, options)) {
      this.#failures = 0
      this.#apply(event)
    }
  }

  /** Returns the options of a watch that starts at the last version, or of a streaming list if no version is known. */
  #watchOptions(signal: AbortSignal, { onOpen }: Pick<WatchOptions, 'onOpen'>): WatchOptions {
    const { selection, accept } = this.#options
    const timeoutSeconds = Math.round(watchSeconds * (1 + Math.random()))
    const start = this.#version === '' ? { sendInitialEvents: true } : { resourceVersion: this.#version }
    const form = accept === undefined ? {} : { accept: accept.one }
    return { ...selection, ...form, ...start, bookmarks: true, timeoutSeconds, signal, onOpen }
  }

  #apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#version = event.resourceVersion
      return
    }
    this.#version = event.object.metadata.resourceVersion ?? ''
    this.#pass(event)
  }

  #pass({ type, object }: ObjectEvent<T>): void {
    if (type === 'DELETED') this.#sink.remove(object)
    else this.#sink.set(object)
  }
}
