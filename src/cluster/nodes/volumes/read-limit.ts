/**
 * Limits the number of concurrent reads of ConfigMaps and Secrets. Each read may take several megabytes, and users
 * decide how many objects their pods reference.
 */
import { TaskPool } from '../../../base/concurrency/task-pool.ts'

const maxConcurrentReads = 8

export class ReadLimit {
  readonly #reads = new TaskPool(maxConcurrentReads)

  /** Calls `read` as soon as fewer than eight reads are running. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    for (let room = this.#reads.room(); room !== undefined; room = this.#reads.room()) await room
    return await new Promise<T>((resolve, reject) => this.#reads.run(() => read().then(resolve, reject)))
  }
}
