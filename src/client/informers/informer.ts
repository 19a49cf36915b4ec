/**
 * A copy of a selection, kept up to date by a reflector, that calls handlers with every change. So handlers may miss
 * intermediate states of an object, but never its last one, nor its disappearance.
 */
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import type { Client } from '../requests/client.ts'
import { type ObjectName, objectKey, type ResourceType } from '../requests/resource-type.ts'
import { type Index, type IndexFunction, ObjectIndex } from './object-index.ts'
import { Reflector, type ReflectorOptions, type ReflectorSink } from './reflector.ts'

/** `previous` is undefined for a new object, `object` for one that is gone; one of them is there. */
export interface ObjectChange<T> {
  readonly key: string
  readonly previous: T | undefined
  readonly object: T | undefined
}

/** Called with each change of an object. */
export type ChangeHandler<T> = (change: ObjectChange<T>) => void

/** Which objects, and who is told of failures: of lists and watches, and of what handlers throw. */
export type InformerOptions = ReflectorOptions

/** How long the changes of a list are applied before others get their turn; browsers have no `base/concurrency/time-slice.ts`. */
const stretchMs = 4
/** How many changes are applied before the clock is read again. */
const changesBetweenLooks = 16

/** Keeps a copy of the objects of a type and reports every change. */
export class Informer<T extends ObjectBase = ApiObject> {
  readonly type: ResourceType<T>
  /** Resolves true when the first list is in the store, false if `run` ended before. */
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

  /** Objects are shared with everyone who reads here: they must not be changed. */
  get({ namespace, name }: ObjectName): T | undefined {
    return this.#objects.get(namespace === undefined ? name : `${namespace}/${name}`)
  }

  objects(): Iterable<T> {
    return this.#objects.values()
  }

  /** A look-up by values that the function derives from an object; it stays for as long as the informer. */
  index(valuesOf: IndexFunction<T>): Index<T> {
    const index = new ObjectIndex(valuesOf)
    for (const [key, object] of this.#objects) index.replace(key, undefined, object)
    this.#indexes.push(index)
    return index
  }

  /** Calls the handler for every object there is, and for every change from now on; returns a function that ends this. */
  onChange(handler: ChangeHandler<T>): () => void {
    const own: ChangeHandler<T> = (change) => handler(change)
    this.#handlers.add(own)
    for (const [key, object] of [...this.#objects]) this.#tell(own, { key, previous: undefined, object })
    return () => this.#handlers.delete(own)
  }

  /** Keeps the copy up to date until the signal aborts. To be called once. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal)
  }

  /** A list takes effect when it is complete: what is gone first, then what is new or changed. */
  #sink(): ReflectorSink<T> {
    let listed: Map<string, T> | undefined
    return {
      beginList: () => {
        listed = new Map()
      },
      endList: async () => {
        const all = listed ?? new Map<string, T>()
        listed = undefined
        await inStretches(this.#objects.keys(), (key) => {
          if (!all.has(key)) this.#set(key, undefined)
        })
        await inStretches(all, ([key, object]) => {
          if (!sameVersion(this.#objects.get(key), object)) this.#set(key, object)
        })
      },
      set: (object) => {
        if (listed === undefined) this.#set(objectKey(object), object)
        else listed.set(objectKey(object), object)
      },
      remove: (object) => this.#set(objectKey(object), undefined),
    }
  }

  /** Everything is in place before the handlers are called. */
  #set(key: string, object: T | undefined): void {
    const previous = this.#objects.get(key)
    if (object === undefined) this.#objects.delete(key)
    else this.#objects.set(key, object)
    if (previous === undefined && object === undefined) return
    for (const index of this.#indexes) index.replace(key, previous, object)
    for (const handler of this.#handlers) this.#tell(handler, { key, previous, object })
  }

  /** What a handler throws is its own fault: neither the others nor the copy miss anything by it. */
  #tell(handler: ChangeHandler<T>, change: ObjectChange<T>): void {
    try {
      handler(change)
    } catch (error) {
      this.#onError(error)
    }
  }
}

/** Applies many changes, whose handlers may take their time. Everybody else gets a turn in between. */
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
