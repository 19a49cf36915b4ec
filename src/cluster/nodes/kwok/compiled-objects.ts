/**
 * Compiles the objects of one of KWOK's kinds. Each version of an object is compiled only once. Invalid objects are
 * omitted and reported by the loop `kwok-objects`.
 */
import type { Json } from '../../../api/json/json.ts'
import { asJson } from '../../../api/model/object.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import { objectKey } from '../../../client/requests/resource-type.ts'
import { StageError } from '../stages/stage-error.ts'
import type { KwokObject } from './kinds.ts'

/**
 * Maximum number of cluster-scoped objects of a kind that take effect. The limit bounds the cost of a pod change,
 * because each changed pod is matched against all of these objects.
 */
export const maxObjects = 200

/** The informer methods that are needed to compile objects. */
export type KwokInformer = Pick<Informer<KwokObject>, 'objects' | 'onChange'>

interface Entry<T> {
  readonly key: string
  readonly version: string
  readonly compiled: T | undefined
}

/** Compiles the objects of a KWOK kind, and keeps the valid ones sorted by namespace and name. */
export class CompiledObjects<T extends object> {
  readonly #informer: KwokInformer
  readonly #compile: (object: Json) => T
  #entries = new Map<string, Entry<T>>()
  #current: readonly T[] | undefined

  constructor(informer: KwokInformer, compile: (object: Json) => T) {
    this.#informer = informer
    this.#compile = compile
    informer.onChange(({ previous, object }) => {
      // A status update leaves the compiled objects valid.
      if (previous === undefined || object === undefined || versionOf(previous) !== versionOf(object))
        this.#current = undefined
    })
  }

  /**
   * Returns the compiled objects. Returns the same array until a specification changes, so that callers can detect
   * changes by comparing identities.
   */
  get all(): readonly T[] {
    this.#current ??= this.#compileAll()
    return this.#current
  }

  #compileAll(): readonly T[] {
    const objects = [...firstObjects(this.#informer)]
    this.#entries = new Map(objects.map((object) => [objectKey(object), this.#entryOf(object)]))
    return [...this.#entries.values()].flatMap(({ compiled }) => (compiled === undefined ? [] : [compiled]))
  }

  #entryOf(object: KwokObject): Entry<T> {
    const key = objectKey(object)
    const version = versionOf(object)
    const existing = this.#entries.get(key)
    if (existing?.version === version) return existing
    const result = compiledOr(() => this.#compile(asJson(object)))
    return { key, version, compiled: result instanceof StageError ? undefined : result }
  }
}

/** The valid objects of a namespaced kind, each of which applies to the pod of the same name. */
export class NamedObjects<T extends object> {
  readonly #informer: Pick<Informer<KwokObject>, 'get'>
  readonly #compile: (object: KwokObject) => { readonly value: T | undefined }

  constructor(informer: Pick<Informer<KwokObject>, 'get'>, compile: (object: Json) => T) {
    this.#informer = informer
    this.#compile = memoizeByObject((object) => {
      const result = compiledOr(() => compile(asJson(object)))
      return { value: result instanceof StageError ? undefined : result }
    })
  }

  /** Returns the compiled object with the namespace and name of a pod. */
  get(pod: { readonly namespace: string; readonly name: string }): T | undefined {
    const object = this.#informer.get(pod)
    return object && this.#compile(object).value
  }
}

/**
 * Returns the objects that take effect. If there are too many objects, the first ones by namespace and name take
 * effect.
 */
export function firstObjects(informer: Pick<KwokInformer, 'objects'>): readonly KwokObject[] {
  return [...informer.objects()].sort((a, b) => compareUtf8(objectKey(a), objectKey(b))).slice(0, maxObjects)
}

/** Returns the result of a compilation, or the StageError that explains why an object is invalid. */
function compiledOr<T>(compile: () => T): T | StageError {
  try {
    return compile()
  } catch (error) {
    if (error instanceof StageError) return error
    throw error
  }
}

/**
 * Returns a key for the version of an object's spec. Unlike the resource version, the key does not change with the
 * status.
 */
function versionOf({ metadata: { uid, generation } }: KwokObject): string {
  return `${uid}/${generation}`
}
