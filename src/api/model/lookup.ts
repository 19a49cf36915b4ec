/**
 * How the parts of the server look at stored objects other than the one at hand: admission controls at namespaces,
 * endpoints at pods, authorizers at roles. What they find comes with the revision it was found at, so that a write may
 * rest on it (docs/decisions/0008).
 *
 * Objects come from this server's memory and are shared: nobody changes them.
 */
import type { ApiObject } from './object.ts'

/**
 * A stored kind, by the short id of its group: `{ group: 'core', plural: 'namespaces' }`. The definition of a kind is one:
 * `lookup.getCached(pod, name)` returns a `Pod`.
 */
export interface StoredType<T = ApiObject> {
  readonly group: string
  readonly plural: string
  /** Carries the type of the objects; never present at run time. */
  readonly infer?: T
}

/** Which object; the namespace is '' for kinds without. */
export interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** An object as it is stored. */
export interface Found<T = ApiObject> {
  readonly key: string
  readonly revision: number
  readonly object: T
}

/** Looks up stored objects. */
export interface Lookup {
  /** From the cache, which may be a moment behind where several servers share a store. */
  getCached<T = ApiObject>(type: StoredType<T>, name: ObjectName): Found<T> | undefined
  /** In the most recent state. A promise only where the store must be asked first. */
  getLatest<T = ApiObject>(type: StoredType<T>, name: ObjectName): Found<T> | undefined | Promise<Found<T> | undefined>
  /** Resolves when the cache is as recent as the store is now; undefined where it is already. */
  waitUntilCurrent(): Promise<void> | undefined
  /** All of a namespace, or of all namespaces with `undefined`, from the cache. */
  list<T = ApiObject>(type: StoredType<T>, query: ListQuery): Found<T>[]
  /**
   * Tells of every change of the kind from now on, in the moment in which this server hears of it. For those who keep
   * something made of the objects; to be asked for before the caches are loaded. False: the kind is not stored here.
   */
  follow(type: StoredType, follower: Follower): boolean
  /** The names of all objects of the kind, or of those in a namespace, as far as this server has heard. */
  names(type: StoredType, namespace?: string): Iterable<ObjectName>
  /** An object for someone who keeps something else made of it: it is read anew and not remembered. */
  readUncached<T = ApiObject>(type: StoredType<T>, name: ObjectName): T | undefined
  /** All of the kind for the same purpose, as they were when this was asked, each read when its turn comes. */
  readAllUncached<T = ApiObject>(type: StoredType<T>): Iterable<readonly [ObjectName, T]>
}

export interface Follower {
  /** An object was created, changed or deleted. */
  changed(name: ObjectName): void
  /** Any object may have changed: all were loaded anew. */
  reset(): void
}

/** Which objects a look-up lists. */
export interface ListQuery {
  readonly namespace: string | undefined
  /** For what restricts others: throws where one of them cannot be read, rather than let all do as they like. */
  readonly whole?: boolean
  /** Only those with this label, found by an index. */
  readonly label?: { readonly key: string; readonly value: string }
}
