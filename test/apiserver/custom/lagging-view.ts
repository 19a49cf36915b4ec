import { MemoryStore } from '../../../src/storage/store/memory.ts'
import type { Batch, WatchOptions } from '../../../src/storage/store/store.ts'

/** A store in which a test can delay change events. */
export class LaggingView extends MemoryStore {
  readonly #store: MemoryStore
  #release: PromiseWithResolvers<void> | undefined

  constructor(store: MemoryStore) {
    super()
    this.#store = store
  }

  hold(): void {
    this.#release = Promise.withResolvers()
  }

  override commit: MemoryStore['commit'] = (write) => this.#store.commit(write)
  override get: MemoryStore['get'] = (key) => this.#store.get(key)
  override list: MemoryStore['list'] = (range) => this.#store.list(range)

  /** Delivers the delayed events whenever the revision is read. */
  override revision: MemoryStore['revision'] = () => {
    this.#release?.resolve()
    return this.#store.revision()
  }

  override async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    for await (const batch of this.#store.watch(options)) {
      await this.#release?.promise
      yield batch
    }
  }
}
