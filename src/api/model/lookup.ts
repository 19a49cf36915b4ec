/**
 * Access to other stored objects for parts of the server. Admission plugins look up namespaces, endpoints look up pods,
 * and authorizers look up roles. Each result includes the revision of the object, so that a write can require that the
 * object has not changed (docs/decisions/0008).
 *
 * Objects come from this server's cache and are shared: callers must not modify them.
 */
import type { ApiObject } from './object.ts'

/**
 * A stored kind, by the short ID of its group: `{ group: 'core', plural: 'namespaces' }`. `T` is the type of its
 * objects: see `api/kinds/stored-types.ts`.
 */
export interface StoredType<T = ApiObject> {
  readonly group: string
  readonly plural: string
  /** Has the type of the objects. Never set at run time. */
  readonly infer?: T
}

/** The name of an object. The namespace is empty for cluster-scoped kinds. */
export interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** A stored object. */
export interface StoredObject<T = ApiObject> {
  readonly key: string
  readonly revision: number
  readonly object: T
}

/** Looks up stored objects. */
export interface Lookup {
  /** Returns the object from the cache, which may lag briefly if several servers share a store. */
  getCached<T = ApiObject>(type: StoredType<T>, name: ObjectName): StoredObject<T> | undefined
  /** Returns the most recent state. Returns a promise only if the store must be queried first. */
  getLatest<T = ApiObject>(
    type: StoredType<T>,
    name: ObjectName,
  ): StoredObject<T> | undefined | Promise<StoredObject<T> | undefined>
  /** Resolves when the cache is as recent as the store is now. Returns undefined if it already is. */
  waitUntilCurrent(): Promise<void> | undefined
  /** Lists a namespace, or all namespaces with `undefined`, from the cache. */
  list<T = ApiObject>(type: StoredType<T>, query: ListQuery): StoredObject<T>[]
  /**
   * Registers a listener for every change of the kind from now on, as soon as this server receives the change. For
   * callers that derive data from the objects. Must be called before the caches are loaded. Returns false if this
   * server does not store the kind.
   */
  follow(type: StoredType, follower: Follower): boolean
  /**
   * Returns the names of all objects of the kind, or of the objects in a namespace, as far as this server knows them.
   */
  names(type: StoredType, namespace?: string): Iterable<ObjectName>
  /** Decodes an object without caching the result. For callers that keep only data derived from the object. */
  readUncached<T = ApiObject>(type: StoredType<T>, name: ObjectName): T | undefined
  /**
   * Decodes all objects of the kind without caching them, as of the call. Decodes each object when the iteration
   * reaches it.
   */
  readAllUncached<T = ApiObject>(type: StoredType<T>): Iterable<readonly [ObjectName, T]>
}

export interface Follower {
  /** Called when an object has been created, changed or deleted. */
  changed(name: ObjectName): void
  /** Called when any object may have changed because all objects were reloaded. */
  reset(): void
}

/** The objects to list. */
export interface ListQuery {
  readonly namespace: string | undefined
  /**
   * Whether to throw if any object is unreadable. For policies that restrict requests and must therefore fail closed.
   */
  readonly whole?: boolean
  /** Selects only objects with this label. Uses an index. */
  readonly label?: { readonly key: string; readonly value: string }
}
