/**
 * Read access to stored objects for all parts of the server. Admission plugins look up namespaces, endpoints look up
 * pods, and authorizers look up roles. Each result includes the revision of the object, so that a write can require
 * that the object has not changed (docs/decisions/0008).
 *
 * Objects come from this server's cache and are shared, so callers must not modify them.
 */
import type { ApiObject } from './object.ts'

/**
 * A kind as it is stored, such as `{ group: 'core', plural: 'namespaces' }`. The group is identified by its short ID.
 * `T` is the type of the objects.
 */
export interface StoredType<T = ApiObject> {
  readonly group: string
  readonly plural: string
  /** Carries the object type for the compiler. Never set at run time. */
  readonly infer?: T
}

/** The name of an object. The namespace is '' for cluster-scoped kinds. */
export interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** A stored object, with its key and revision. */
export interface StoredObject<T = ApiObject> {
  readonly key: string
  readonly revision: number
  readonly object: T
}

/** Read access to stored objects, usually through the caches. */
export interface Lookup {
  /** Returns the object from the cache, which may lag briefly if servers share a store. */
  getCached<T = ApiObject>(type: StoredType<T>, name: ObjectName): StoredObject<T> | undefined
  /** Returns the object in its latest state. Returns a promise only if the cache must catch up with the store first. */
  getLatest<T = ApiObject>(
    type: StoredType<T>,
    name: ObjectName,
  ): StoredObject<T> | undefined | Promise<StoredObject<T> | undefined>
  /** Waits until the cache has caught up with the store. Returns undefined if the cache is already current. */
  waitUntilCurrent(): Promise<void> | undefined
  /**
   * Lists the objects of a namespace from the cache. If the namespace is undefined, lists the objects of all
   * namespaces.
   */
  list<T = ApiObject>(type: StoredType<T>, query: ListQuery): StoredObject<T>[]
  /**
   * Yields the objects that `list` would return at the time of the call. Decodes each object in slices when the
   * iteration reaches it, so that other work can run in between. Only small decoded objects stay in memory. Intended
   * for kinds that ordinary users can write.
   */
  each<T = ApiObject>(type: StoredType<T>, query: EachQuery): AsyncIterable<StoredObject<T>>
  /**
   * Registers a listener for every later change to objects of the kind. The listener is called as soon as this server
   * receives the change. Intended for callers that maintain data derived from the objects. Must be called before the
   * caches are loaded. Returns false if this server does not store the kind.
   */
  follow(type: StoredType, follower: Follower): boolean
  /** Returns the names of all known objects of a kind, in one namespace or in all. */
  names(type: StoredType<unknown>, namespace?: string): Iterable<ObjectName>
  /**
   * Decodes an object without caching the result. Intended for callers that store only data derived from the object.
   */
  readUncached<T = ApiObject>(type: StoredType<T>, name: ObjectName): T | undefined
  /**
   * Decodes all objects of the kind without caching them. The objects reflect the state at the time of the call. Each
   * object is decoded when the iteration reaches it.
   */
  readAllUncached<T = ApiObject>(type: StoredType<T>): Iterable<readonly [ObjectName, T]>
}

/** Receives the changes to objects of a kind. */
export interface Follower {
  /** Called after an object has been created, changed or deleted. */
  changed(name: ObjectName): void
  /** Called after a reload, in which any object may have changed. */
  reset(): void
}

/** Which objects to list. */
export interface ListQuery {
  readonly namespace: string | undefined
  /**
   * Whether to throw an error if any object is unreadable. Policies that restrict requests set this option, because
   * they must fail closed.
   */
  readonly whole?: boolean
  /** Selects only objects with this label and value, using an index. */
  readonly label?: { readonly key: string; readonly value: string }
}

/** The objects that `each` yields. */
export interface EachQuery extends ListQuery {
  /** Selects only objects whose labels match. Other objects are not decoded. */
  readonly matches?: (labels: { readonly [key: string]: string }) => boolean
}
