/** Holds observable values. This module does not use browser APIs, so that tests can run it in Node.js. */

/** Holds a value and notifies listeners. Several changes within a frame cause one notification. */
export class Store<T> {
  #value: T
  #isDue = false
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    this.#value = value
    if (this.#isDue || this.#listeners.size === 0) return
    this.#isDue = true
    // Pages in the background have no animation frames. The timer ensures that changes do not accumulate.
    setTimeout(() => {
      this.#isDue = false
      for (const listener of this.#listeners) listener()
    }, 16)
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
