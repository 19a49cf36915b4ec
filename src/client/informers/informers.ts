/**
 * Informers that all parts of a program share. Requests for the same type and selection share an informer, so the
 * objects are listed, watched and stored only once. An informer runs from its first request until the signal aborts.
 */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import type { Backoff } from '../../base/concurrency/backoff.ts'
import type { Client } from '../requests/client.ts'
import { type ResourceType, type Selection, typeName } from '../requests/resource-type.ts'
import { Informer } from './informer.ts'

/** Settings that apply to all informers of a program. */
export interface InformersOptions {
  /** A signal that stops all informers when it aborts. */
  readonly signal: AbortSignal
  /** Called for every failure of a list, a watch or a handler. Informers recover automatically. */
  readonly onError: (error: unknown) => void
  /** Backoff between attempts while the server is unreachable. */
  readonly backoff?: Backoff
  /**
   * Whether to request streaming lists. Defaults to true. Servers that do not support them return plain lists instead.
   */
  readonly streamingLists?: boolean
}

/** Provides informers that all parts of a program share. */
export class Informers {
  readonly #client: Client
  readonly #options: InformersOptions
  readonly #informers = new Map<string, Informer<never>>()
  readonly #running = new Set<Promise<void>>()

  constructor(client: Client, options: InformersOptions) {
    this.#client = client
    this.#options = options
  }

  /** Returns the informer of the selected objects. */
  of<T extends ObjectBase = ApiObject>(type: ResourceType<T>, selection: Selection = {}): Informer<T> {
    const { namespace, labelSelector, fieldSelector } = selection
    const key = JSON.stringify([typeName(type), type.version, namespace, labelSelector, fieldSelector])
    const existing = this.#informers.get(key)
    if (existing !== undefined) return existing as unknown as Informer<T>
    const { signal, ...options } = this.#options
    const informer = new Informer(this.#client, type, { ...options, selection })
    this.#informers.set(key, informer as unknown as Informer<never>)
    this.#running.add(informer.run(signal))
    return informer
  }

  /**
   * Resolves to true when every informer requested so far has its first list, or to false if the signal aborts first.
   */
  async synced(): Promise<boolean> {
    const each = await Promise.all([...this.#informers.values()].map(({ synced }) => synced))
    return each.every((synced) => synced)
  }

  /** Resolves when the signal has aborted and all informers have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }
}
