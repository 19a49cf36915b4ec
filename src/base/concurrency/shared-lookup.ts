/**
 * Shares one lookup among many callers, each of which needs a result no older than its own call.
 *
 * A caller may share a lookup only if the lookup began after the call. Calls that arrive during a lookup share the next
 * lookup, which begins when the current one ends or takes too long.
 */

/** Runs one lookup for all waiting callers. */
export class SharedLookup<T> {
  #current: Promise<T> | undefined
  #next: Promise<T> | undefined
  readonly #look: () => Promise<T>
  readonly #timeoutMs: number

  constructor(look: () => Promise<T>, timeoutMs = 100) {
    this.#look = look
    this.#timeoutMs = timeoutMs
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
    await settledOr(current, this.#timeoutMs)
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
