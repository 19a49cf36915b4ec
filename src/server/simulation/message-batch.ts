/**
 * Collects the messages from one turn of the event loop and posts them together. Posting has a high fixed cost, and a
 * server with thousands of pods sends dozens of messages to the other thread in every turn. The bytes of all messages
 * are in one buffer.
 */

/** A message about a request. Its bytes, if any, are copied into the shared buffer of the batch. */
export interface Batched {
  readonly id: number
  readonly data?: Uint8Array<ArrayBuffer> | undefined
}

export class MessageBatch<M extends Batched> {
  readonly #post: (messages: readonly M[], transfer: ArrayBuffer[]) => void
  #messages: M[] = []

  constructor(post: (messages: readonly M[], transfer: ArrayBuffer[]) => void) {
    this.#post = post
  }

  /** Posts the message at the end of this event-loop turn. The caller must not change the bytes before then. */
  add(message: M): void {
    if (this.#messages.length === 0) setImmediate(() => this.#flush())
    this.#messages.push(message)
  }

  #flush(): void {
    const messages = this.#messages
    this.#messages = []
    const size = messages.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
    if (size === 0) {
      this.#post(messages, [])
      return
    }
    const bytes = new Uint8Array(size)
    let end = 0
    const packed = messages.map((message) => {
      const { data } = message
      if (data === undefined) return message
      const start = end
      end += data.length
      bytes.set(data, start)
      return { ...message, data: bytes.subarray(start, end) }
    })
    this.#post(packed, [bytes.buffer])
  }
}
