/**
 * Lists selected objects page by page, then watches them, and passes every object to a sink. The reflector stores no
 * objects.
 *
 * A watch that ends or breaks is resumed from the last resource version, with backoff. If that version is too old, the
 * reflector lists all objects again. The sink may miss intermediate states of an object, but neither its last state nor
 * its deletion. `run` owns the connection and ends with its signal.
 */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import type { Client } from '../requests/client.ts'
import type { ResourceType, Selection } from '../requests/resource-type.ts'
import { isExpired } from '../requests/status-error.ts'
import { type WatchEvent, watch } from '../requests/watch.ts'

/** Receives the objects of a reflector. */
export interface ReflectorSink<T> {
  /**
   * Starts a list, possibly again after a failed list. When the list ends, objects that it did not contain have been
   * deleted.
   */
  beginList(): void
  endList(): void | Promise<void>
  /** Sets the current state of an object, from a list or an event. */
  set(object: T): void
  /** Removes a deleted object. `object` is its last state. */
  remove(object: T): void
}

export interface ReflectorOptions {
  readonly selection?: Selection
  /** Called for every failure. The reflector recovers automatically. */
  readonly onError: (error: unknown) => void
  /** Called whenever a watch has been opened, which means that earlier failures are resolved. */
  readonly onFollowing?: () => void
  readonly backoff?: Backoff
  /**
   * Number of objects per list page. Defaults to 500. If set and the pages of a list expire, the list restarts page by
   * page. Intended for clients that cannot hold a whole list in memory.
   */
  readonly pageLimit?: number
  /** Media types to request instead of whole objects, for lists and for events: see `metadata-form.ts`. */
  readonly accept?: { readonly list: string; readonly one: string }
}

const usualBackoff: Backoff = { firstMs: 200, longestMs: 10_000 }
/**
 * Minimum duration of a watch. The actual duration is random and up to twice as long, so that watches do not all
 * restart at once.
 */
const watchSeconds = 300

/** Lists and watches all objects of a type without storing them. Lists again if necessary. */
export class Reflector<T extends ObjectBase = ApiObject> {
  readonly type: ResourceType<T>
  /** Resolves to true when the first list is complete, or to false if `run` ended before. */
  readonly synced: Promise<boolean>
  readonly #client: Client
  readonly #sink: ReflectorSink<T>
  readonly #options: ReflectorOptions
  #settle!: (synced: boolean) => void
  /** Resource version at which the next watch starts. Empty if the objects must be listed first. */
  #version = ''
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
    this.synced = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Lists and watches until the signal aborts. Call this only once. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#failures++
      try {
        if (this.#version === '') await this.#list(signal)
        await this.#watch(signal)
      } catch (error) {
        if (signal.aborted) break
        if (isExpired(error)) this.#version = ''
        else this.#options.onError(error)
      }
      await pause(this.#failures === 0 ? 0 : backoffMs(this.#options.backoff ?? usualBackoff, this.#failures), signal)
    }
    this.#settle(false)
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { selection, accept, pageLimit: limit } = this.#options
    const paging = limit === undefined ? { onRestart: () => this.#sink.beginList() } : { limit }
    const pages = this.#client.pages(this.type, { ...selection, accept: accept?.list, signal, ...paging })
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
    const timeoutSeconds = Math.round(watchSeconds * (1 + Math.random()))
    const { selection, accept, onFollowing: onOpen } = this.#options
    const form = accept === undefined ? {} : { accept: accept.one }
    const options = {
      ...selection,
      ...form,
      resourceVersion: this.#version,
      bookmarks: true,
      timeoutSeconds,
      signal,
      onOpen,
    }
    for await (const event of watch(this.#client, this.type, options)) {
      this.#failures = 0
      this.#apply(event)
    }
  }

  #apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#version = event.resourceVersion
      return
    }
    const { type, object } = event
    this.#version = object.metadata.resourceVersion ?? ''
    if (type === 'DELETED') this.#sink.remove(object)
    else this.#sink.set(object)
  }
}
