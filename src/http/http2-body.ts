/**
 * The body of a request in HTTP/2 as it comes. Most are whole before anybody asks for them, and are never a stream. How much
 * may come ahead of who reads it is bounded by the windows of the stream and of its connection, which grow as it is taken.
 */
import { Readable } from 'node:stream'

export class Http2Body {
  readonly #onTaken: (bytes: number) => void
  #held: Buffer[] = []
  #heldBytes = 0
  #stream: Readable | undefined
  #isWhole = false
  #isOver = false
  #isWanted = false
  /** Whether the stream has been told that this is all. */
  #isEnded = false

  /** `onTaken` hears how much somebody has taken, so that as much more may come. */
  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken
  }

  /** Whether all of it has come. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** All of it, where it has come and nobody reads it as a stream. */
  get atHand(): Buffer | undefined {
    if (!this.#isWhole || this.#stream !== undefined) return undefined
    const [body = nothing, ...more] = this.#held
    if (more.length > 0) this.#held = [Buffer.concat(this.#held)]
    this.#tellTaken(this.#heldBytes)
    return more.length > 0 ? this.#held[0] : body
  }

  get stream(): Readable {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = new Readable({
      read: () => {
        this.#isWanted = true
        this.#handOver()
      },
    })
    if (this.#isOver && !this.#isWhole) this.#stream.destroy()
    return this.#stream
  }

  receive(part: Buffer): void {
    this.#held.push(part)
    this.#heldBytes += part.length
    this.#handOver()
  }

  /** The client has ended it. */
  end(): void {
    this.#isWhole = true
    this.#handOver()
  }

  /** No more of it will come, and none is wanted. */
  drop(): void {
    this.#isOver = true
    this.#tellTaken(this.#heldBytes)
    if (!this.#isWhole) this.#stream?.destroy()
  }

  /** To the stream, as far as it wants any. */
  #handOver(): void {
    if (this.#stream === undefined) return
    let count = 0
    while (this.#isWanted && count < this.#held.length) this.#isWanted = this.#stream.push(this.#held[count++])
    const handed = this.#held.splice(0, count)
    this.#tellTaken(handed.reduce((bytes, part) => bytes + part.length, 0))
    if (this.#held.length > 0 || !this.#isWhole || this.#isEnded) return
    this.#isEnded = true
    this.#stream.push(null)
  }

  #tellTaken(bytes: number): void {
    this.#heldBytes -= bytes
    if (bytes > 0) this.#onTaken(bytes)
  }
}

const nothing = Buffer.alloc(0)
