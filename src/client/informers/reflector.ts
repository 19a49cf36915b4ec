/**
 * Follows a selection: lists it page by page, then watches it, and tells a sink what there is. Keeps no objects itself.
 *
 * A watch that ends or breaks is resumed from the last version seen, with growing pauses while that fails; when that
 * version is too old, everything is listed again. So the sink may miss intermediate states of an object, but never its
 * last one, nor its disappearance. `run` owns the connection and ends with its signal.
 */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import type { Client } from '../requests/client.ts'
import type { ResourceType, Selection } from '../requests/resource-type.ts'
import { isExpired } from '../requests/status-error.ts'
import { type WatchEvent, watch } from '../requests/watch.ts'

/** Where a reflector puts what it sees. */
export interface ReflectorSink<T> {
  /** A list begins, perhaps again after one that failed: objects that it does not bring are gone at its end. */
  beginList(): void
  endList(): void | Promise<void>
  /** The object as it is now, from a list or an event. */
  set(object: T): void
  /** The object was deleted; this is its last state. */
  remove(object: T): void
}

export interface ReflectorOptions {
  readonly selection?: Selection
  /** Called for every failure; the reflector goes on by itself. */
  readonly onError: (error: unknown) => void
  /** Called when a watch is open, first or again: what failed before is over. */
  readonly onFollowing?: () => void
  readonly backoff?: Backoff
  /**
   * Number of objects per page of a list; 500 by default. With it a list whose pages have expired starts over page by page:
   * for clients that cannot hold a whole list in one piece.
   */
  readonly pageLimit?: number
  /** Other forms than whole objects, for lists and for events: `metadata-form.ts`. */
  readonly accept?: { readonly list: string; readonly one: string }
}

const usualBackoff: Backoff = { firstMs: 200, longestMs: 10_000 }
/** A watch is renewed after this time, or up to twice as much, so that not all are renewed at once. */
const watchSeconds = 300

/** Follows all objects of a type and keeps none: lists, then watches, and starts over where it must. */
export class Reflector<T extends ObjectBase = ApiObject> {
  readonly type: ResourceType<T>
  /** Resolves true when the first list is complete, false if `run` ended before. */
  readonly synced: Promise<boolean>
  readonly #client: Client
  readonly #sink: ReflectorSink<T>
  readonly #options: ReflectorOptions
  #settle!: (synced: boolean) => void
  /** Where the next watch starts; '' when a list must come first. */
  #version = ''
  /** Attempts in a row that brought nothing. */
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

  /** Follows the selection until the signal aborts. To be called once. */
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
