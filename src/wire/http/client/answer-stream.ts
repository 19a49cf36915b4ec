/**
 * The body of a response as a stream. It reads ahead of its reader by a limited amount. A truncated body ends with an
 * error. Destroying the stream ends the call.
 */
import { Readable } from 'node:stream'

/** The body of a response that is still being received. */
export class AnswerStream extends Readable {
  readonly #onAbandoned: () => void
  #isFull = false
  #onRoom: (() => void) | undefined

  /** `onAbandoned` is called when the stream is destroyed. */
  constructor(onAbandoned: () => void) {
    super()
    this.#onAbandoned = onAbandoned
    // The reader of the stream notices a truncated body.
    this.on('error', () => {})
  }

  get mayGrow(): boolean {
    return !this.#isFull
  }

  /** Calls `onRoom` once, when the reader needs more data. */
  wait(onRoom: () => void): void {
    this.#onRoom = onRoom
  }

  add(bytes: Buffer): void {
    this.#isFull = !this.push(bytes)
  }

  override _read(): void {
    this.#isFull = false
    const onRoom = this.#onRoom
    this.#onRoom = undefined
    onRoom?.()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#onAbandoned()
    callback(error)
  }
}
