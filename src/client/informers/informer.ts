/**
 * A local copy of selected objects. A reflector updates the copy, and handlers are called for every change. Handlers
 * may miss intermediate states of an object, but neither its last state nor its deletion.
 */
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import type { Client } from '../requests/client.ts'
import { type ObjectName, objectKey, type ResourceType } from '../requests/resource-type.ts'
import { type Index, type IndexFunction, ObjectIndex } from './object-index.ts'
import { Reflector, type ReflectorOptions, type ReflectorSink } from './reflector.ts'

/**
 * A change to an object. `previous` is undefined for a new object, and `object` is undefined for a deleted object. At
 * least one of them is set.
 */
export interface ObjectChange<T> {
  readonly key: string
  readonly previous: T | undefined
  readonly object: T | undefined
}

/** Called for each change to an object. */
export type ChangeHandler<T> = (change: ObjectChange<T>) => void

/** Options of an informer: the objects to select, and the callback for failures of lists, watches and handlers. */
export type InformerOptions = ReflectorOptions

/**
 * Maximum time in milliseconds that applying a list may block other tasks. A TimeSlice is not used because it does not
 * work in browsers.
 */
const stretchMs = 4
/** Number of changes to apply before checking the time again. */
const changesBetweenLooks = 16

/** Maintains a copy of all objects of a type and reports every change. */
export class Informer<T extends ObjectBase = ApiObject> {
  readonly type: ResourceType<T>
  /** Resolves to true when the first list has been applied, or to false if `run` ends first. */
  readonly synced: Promise<boolean>
  readonly #reflector: Reflector<T>
  readonly #objects = new Map<string, T>()
  readonly #handlers = new Set<ChangeHandler<T>>()
  readonly #indexes: ObjectIndex<T>[] = []
  readonly #onError: (error: unknown) => void

  constructor(client: Client, type: ResourceType<T>, options: InformerOptions) {
    this.type = type
    this.#onError = options.onError
    this.#reflector = new Reflector(client, type, { ...options, sink: this.#sink() })
    this.synced = this.#reflector.synced
  }

  get size(): number {
    return this.#objects.size
  }

  /** Returns an object. All readers share the objects, so callers must not change them. */
  get({ namespace, name }: ObjectName): T | undefined {
    return this.#objects.get(namespace === undefined ? name : `${namespace}/${name}`)
  }

  objects(): Iterable<T> {
    return this.#objects.values()
  }

  /** Adds an index by the values that `valuesOf` returns for an object. The index cannot be removed. */
  index(valuesOf: IndexFunction<T>): Index<T> {
    const index = new ObjectIndex(valuesOf)
    for (const [key, object] of this.#objects) index.replace(key, undefined, object)
    this.#indexes.push(index)
    return index
  }

  /**
   * Calls the handler for every existing object and every later change. Returns a function that removes the handler.
   */
  onChange(handler: ChangeHandler<T>): () => void {
    const own: ChangeHandler<T> = (change) => handler(change)
    this.#handlers.add(own)
    for (const [key, object] of [...this.#objects]) this.#tell(own, { key, previous: undefined, object })
    return () => this.#handlers.delete(own)
  }

  /** Updates the copy until the signal aborts. Must be called only once. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal)
  }

  /**
   * Returns the functions that the reflector calls. A list is applied only when it is complete, with deletions before
   * other changes.
   */
  #sink(): ReflectorSink<T> {
    let pendingList: Map<string, T> | undefined
    return {
      beginList: () => {
        pendingList = new Map()
      },
      endList: async () => {
        const all = pendingList ?? new Map<string, T>()
        pendingList = undefined
        await inStretches(this.#objects.keys(), (key) => {
          if (!all.has(key)) this.#set(key, undefined)
        })
        await inStretches(all, ([key, object]) => {
          if (!sameVersion(this.#objects.get(key), object)) this.#set(key, object)
        })
      },
      set: (object) => {
        if (pendingList === undefined) this.#set(objectKey(object), object)
        else pendingList.set(objectKey(object), object)
      },
      remove: (object) => {
        if (pendingList === undefined) this.#set(objectKey(object), undefined)
        else pendingList.delete(objectKey(object))
      },
    }
  }

  /** Updates the copy and the indexes and then calls the handlers. */
  #set(key: string, object: T | undefined): void {
    const previous = this.#objects.get(key)
    if (object === undefined) this.#objects.delete(key)
    else this.#objects.set(key, object)
    if (previous === undefined && object === undefined) return
    for (const index of this.#indexes) index.replace(key, previous, object)
    for (const handler of this.#handlers) this.#tell(handler, { key, previous, object })
  }

  /** Calls a handler. An error in the handler affects neither other handlers nor the copy. */
  #tell(handler: ChangeHandler<T>, change: ObjectChange<T>): void {
    try {
      handler(change)
    } catch (error) {
      this.#onError(error)
    }
  }
}

/** Applies many changes. Other tasks can run in between, because handlers may be slow. */
async function inStretches<E>(all: Iterable<E>, apply: (each: E) => void): Promise<void> {
  let began = performance.now()
  let applied = 0
  for (const each of [...all]) {
    apply(each)
    if (++applied % changesBetweenLooks !== 0 || performance.now() - began < stretchMs) continue
    await new Promise((resolve) => setTimeout(resolve, 0))
    began = performance.now()
  }
}

function sameVersion(a: ObjectBase | undefined, b: ObjectBase): boolean {
  return (
    a !== undefined && a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
  )
}
