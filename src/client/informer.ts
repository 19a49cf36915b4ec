/**
 * A copy of a selection, kept up to date: lists once, then watches, and calls handlers with every change.
 *
 * A watch that ends or breaks is resumed from the last version seen, with growing pauses while that fails; when that
 * version is too old, everything is listed again and the differences are passed on. So handlers may miss intermediate
 * states of an object, but never its last one, nor its disappearance. `run` owns the connection and ends with its
 * signal.
 */
import { pause } from '../base/abort.ts'
import { type Backoff, backoffMs } from '../base/backoff.ts'
import type { ApiObject } from '../model/object.ts'
import type { Client } from './client.ts'
import { type ObjectName, objectKey, type ResourceType, type Selection } from './resource-type.ts'
import { isExpired } from './status-error.ts'
import { type WatchEvent, watch } from './watch.ts'

/** `previous` is undefined for a new object, `object` for one that is gone; one of them is there. */
export interface ObjectChange<T> {
  readonly key: string
  readonly previous: T | undefined
  readonly object: T | undefined
}

export type ChangeHandler<T> = (change: ObjectChange<T>) => void

export interface InformerOptions {
  readonly selection?: Selection
  /** Called for every failure; the informer goes on by itself. */
  readonly onError: (error: unknown) => void
  readonly backoff?: Backoff
}

const usualBackoff: Backoff = { firstMs: 200, longestMs: 10_000 }
/** A watch is renewed after this time, or up to twice as much, so that not all are renewed at once. */
const watchSeconds = 300

export class Informer<T extends ApiObject = ApiObject> {
  readonly type: ResourceType<T>
  /** Resolves true when the first list is in the store, false if `run` ended before. */
  readonly synced: Promise<boolean>
  readonly #client: Client
  readonly #options: InformerOptions
  readonly #objects = new Map<string, T>()
  readonly #handlers = new Set<ChangeHandler<T>>()
  #settle!: (synced: boolean) => void
  /** Where the next watch starts; '' when a list must come first. */
  #version = ''
  /** Attempts in a row that brought nothing. */
  #failures = 0

  constructor(client: Client, type: ResourceType<T>, options: InformerOptions) {
    this.#client = client
    this.type = type
    this.#options = options
    this.synced = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  get size(): number {
    return this.#objects.size
  }

  /** Objects are shared with everyone who reads here: they must not be changed. */
  get({ namespace, name }: ObjectName): T | undefined {
    return this.#objects.get(namespace === undefined ? name : `${namespace}/${name}`)
  }

  objects(): Iterable<T> {
    return this.#objects.values()
  }

  /** Calls the handler for every change from now on; gives what ends that. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** Keeps the copy up to date until the signal aborts. To be called once. */
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
    const { items, resourceVersion } = await this.#client.list(this.type, { ...this.#options.selection, signal })
    const listed = new Map(items.map((object) => [objectKey(object), object]))
    const gone = [...this.#objects.keys()].filter((key) => !listed.has(key))
    this.#version = resourceVersion
    for (const key of gone) this.#set(key, undefined)
    for (const [key, object] of listed) if (!sameVersion(this.#objects.get(key), object)) this.#set(key, object)
    this.#settle(true)
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const timeoutSeconds = Math.round(watchSeconds * (1 + Math.random()))
    const resourceVersion = this.#version
    const options = { ...this.#options.selection, resourceVersion, bookmarks: true, timeoutSeconds, signal }
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
    this.#set(objectKey(object), type === 'DELETED' ? undefined : object)
  }

  /** Everything is in place before the handlers are called. */
  #set(key: string, object: T | undefined): void {
    const previous = this.#objects.get(key)
    if (object === undefined) this.#objects.delete(key)
    else this.#objects.set(key, object)
    if (previous === undefined && object === undefined) return
    for (const handler of this.#handlers) handler({ key, previous, object })
  }
}

function sameVersion(a: ApiObject | undefined, b: ApiObject): boolean {
  return (
    a !== undefined && a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
  )
}
