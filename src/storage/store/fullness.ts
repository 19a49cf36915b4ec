/**
 * Whether a store takes data: it is full from the first write that was refused for want of room until the next one that
 * added data. Reports each change once. Deletes say nothing about it: those succeed on a full store.
 */
import { StoreFull, type Write } from './store.ts'

/** `full` when the store has begun to refuse data, `roomy` when it takes data again. */
export type Capacity = 'full' | 'roomy'

/** Called when the store begins to refuse data, and when it takes data again. */
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
