/**
 * Shares one look-up among many callers, each of whom needs an answer that is not older than its question.
 *
 * A caller may share a look-up only if it began after the caller arrived. So those who arrive while one is under way
 * wait together for the next, which begins when that one ends, or when it has taken too long to wait for.
 */

/** Runs one look-up for all callers that wait for it. */
export class SharedLookup<T> {
  #current: Promise<T> | undefined
  #next: Promise<T> | undefined
  readonly #look: () => Promise<T>
  readonly #patienceMs: number

  constructor(look: () => Promise<T>, patienceMs = 100) {
    this.#look = look
    this.#patienceMs = patienceMs
  }

  ask(): Promise<T> {
    if (this.#current === undefined) return this.#begin()
    this.#next ??= this.#beginAfter(this.#current)
    return this.#next
  }

  #begin(): Promise<T> {
    const look = this.#look().finally(() => {
      if (this.#current === look) this.#current = undefined
    })
    this.#current = look
    return look
  }

  async #beginAfter(current: Promise<T>): Promise<T> {
    await settledOr(current, this.#patienceMs)
    this.#next = undefined
    return this.#begin()
  }
}

function settledOr(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    promise.then(done, done)
  })
}
