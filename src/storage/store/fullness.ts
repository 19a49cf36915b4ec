/**
 * Tracks whether a store accepts data. The store is considered full from the first write that is rejected for lack of
 * space until the next successful write that adds data. Each transition is reported once. Deletes are ignored, because
 * they succeed even on a full store.
 */
import { StoreFull, type Write } from './store.ts'

/** The state of a store: `full` if it rejects data, `roomy` if it accepts data. */
export type Capacity = 'full' | 'roomy'

/** Called when the store starts to reject data, and when it accepts data again. */
export type OnCapacity = (now: Capacity) => void

export class Fullness {
  #now: Capacity = 'roomy'
  readonly #onChange: OnCapacity

  constructor(onChange: OnCapacity = () => {}) {
    this.#onChange = onChange
  }

  refused(error: unknown): void {
    if (error instanceof StoreFull) this.#set('full')
  }

  written({ value }: Write): void {
    if (value !== undefined) this.#set('roomy')
  }

  #set(now: Capacity): void {
    if (now === this.#now) return
    this.#now = now
    this.#onChange(now)
  }
}
