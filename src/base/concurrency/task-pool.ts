/** Runs tasks concurrently up to a limit. The caller waits for `room` before it adds a task. */
export class TaskPool {
  readonly #limit: number
  readonly #running = new Set<Promise<void>>()
  #busy = 0
  #room: PromiseWithResolvers<void> | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Resolves when another task may be added. Returns undefined if a task may be added now. */
  room(): Promise<void> | undefined {
    if (this.#busy < this.#limit) return undefined
    this.#room ??= Promise.withResolvers<void>()
    return this.#room.promise
  }

  /** Starts a task. The task must handle its own errors. */
  run(task: () => Promise<void>): void {
    this.#busy++
    const running = task().finally(() => {
      this.#leave()
      this.#running.delete(running)
    })
    this.#running.add(running)
  }

  /** Frees the task's slot while the task waits for a promise, so that another task can run. */
  async outside<T>(waiting: Promise<T>): Promise<T> {
    this.#leave()
    try {
      return await waiting
    } finally {
      this.#busy++
    }
  }

  /** Resolves when no task is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #leave(): void {
    this.#busy--
    if (this.#busy >= this.#limit) return
    this.#room?.resolve()
    this.#room = undefined
  }
}
