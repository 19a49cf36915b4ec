/**
 * The informers of a program, shared: whoever asks for the same type and selection gets the same informer, so that the
 * objects are listed, watched and kept once. An informer runs from when it is first asked for until the signal aborts.
 */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import type { Backoff } from '../../base/concurrency/backoff.ts'
import type { Client } from '../requests/client.ts'
import { type ResourceType, type Selection, typeName } from '../requests/resource-type.ts'
import { Informer } from './informer.ts'

/** What all informers of a program have in common. */
export interface InformersOptions {
  /** Ends all of them. */
  readonly signal: AbortSignal
  /** Called for every failure of a list, a watch or a handler; informers go on by themselves. */
  readonly onError: (error: unknown) => void
  /** The growing pauses while the server cannot be reached. */
  readonly backoff?: Backoff
}

/** Hands out informers that all users of a program share. */
export class Informers {
  readonly #client: Client
  readonly #options: InformersOptions
  readonly #informers = new Map<string, Informer<never>>()
  readonly #running = new Set<Promise<void>>()

  constructor(client: Client, options: InformersOptions) {
    this.#client = client
    this.#options = options
  }

  /** The informer of these objects. */
  of<T extends ObjectBase = ApiObject>(type: ResourceType<T>, selection: Selection = {}): Informer<T> {
    const { namespace, labelSelector, fieldSelector } = selection
    const key = JSON.stringify([typeName(type), type.version, namespace, labelSelector, fieldSelector])
    const known = this.#informers.get(key)
    if (known !== undefined) return known as unknown as Informer<T>
    const { signal, ...options } = this.#options
    const informer = new Informer(this.#client, type, { ...options, selection })
    this.#informers.set(key, informer as unknown as Informer<never>)
    this.#running.add(informer.run(signal))
    return informer
  }

  /** Resolves true when every informer so far has its first list; false where the signal aborted before. */
  async synced(): Promise<boolean> {
    const each = await Promise.all([...this.#informers.values()].map(({ synced }) => synced))
    return each.every((synced) => synced)
  }

  /** Resolves when the signal has aborted and nothing runs any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }
}
