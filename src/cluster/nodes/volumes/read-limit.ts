/**
 * Limits how many ConfigMaps and Secrets are read at the same time: each may take some megabytes while it is read, and
 * users decide how many of them their pods name.
 */
import { TaskPool } from '../../../base/concurrency/task-pool.ts'

const maxConcurrentReads = 8

export class ReadLimit {
  readonly #reads = new TaskPool(maxConcurrentReads)

  /** Runs `read` when fewer than eight others run. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    for (let room = this.#reads.room(); room !== undefined; room = this.#reads.room()) await room
    return await new Promise<T>((resolve, reject) => this.#reads.run(() => read().then(resolve, reject)))
  }
}
