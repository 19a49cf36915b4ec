/**
 * Records which objects a cache knows while it is loaded in the background. An object that the cache does not know is
 * not missing: reading it throws 503, and so does reading all objects. So no reader mistakes an object for absent.
 */
import { serviceUnavailable } from '../../api/model/api-error.ts'

export class PartialObjects {
  /** The revision of the last known state by key. 0 if the object did not exist. */
  readonly #known = new Map<string, number>()
  readonly #loaded = Promise.withResolvers<void>()

  /** Resolves when the cache is loaded. */
  get loaded(): Promise<void> {
    return this.#loaded.promise
  }

  end(): void {
    this.#loaded.resolve()
  }

  knows(key: string): boolean {
    return this.#known.has(key)
  }

  /** Records a state of an object. Returns false if a later one is known. */
  advance(key: string, revision: number): boolean {
    const known = this.#known.get(key)
    if (known !== undefined && known >= revision) return false
    this.#known.set(key, revision)
    return true
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
