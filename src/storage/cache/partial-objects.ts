/**
 * Records which objects a cache contains while it is loaded in the background. An object that the cache does not
 * contain may still exist, so a read of such an object throws 503. A read of all objects also throws 503. Readers
 * therefore never mistake an existing object for a missing one.
 */
import { serviceUnavailable } from '../../api/model/api-error.ts'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import { isKey } from '../store/key.ts'

/**
 * Maximum number of missing objects to record. A limit is needed because clients can request any number of objects that
 * do not exist.
 */
const maxAbsent = 10_000

export class PartialObjects {
  /** The revision of each object's last known state, by key. */
  readonly #revisions = new Map<string, number>()
  /** Keys of objects that did not exist when they were requested. */
  readonly #absent = new BoundedMap<string, true>(maxAbsent)
  readonly #loaded = Promise.withResolvers<void>()

  /** Resolves when the cache is completely loaded. */
  get loaded(): Promise<void> {
    return this.#loaded.promise
  }

  end(): void {
    this.#loaded.resolve()
  }

  knows(key: string): boolean {
    return this.#revisions.has(key) || this.#absent.has(key) || !isKey(key)
  }

  /** Records a state of an object. Returns false if a later state is known. */
  advance(key: string, revision: number): boolean {
    const lastRevision = this.#revisions.get(key)
    if (lastRevision !== undefined && lastRevision >= revision) return false
    this.#revisions.set(key, revision)
    this.#absent.delete(key)
    return true
  }

  /** Records that an object does not exist, unless a state of the object is known. */
  miss(key: string): void {
    if (!this.#revisions.has(key)) this.#absent.set(key, true)
  }

  assertKnown(key: string): void {
    if (!this.knows(key)) throw loadingError()
  }

  assertWhole(): void {
    throw loadingError()
  }
}

function loadingError(): Error {
  return serviceUnavailable('the server is still loading objects of this type; try again')
}
