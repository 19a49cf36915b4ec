/**
 * A stream of bytes between two threads, over the two ends of a channel. A chunk is sent when the reader has taken the one
 * before: a slow reader slows its writer down, and at most one chunk is on its way in each direction.
 */
import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

type Part =
  | { readonly type: 'chunk'; readonly bytes: Uint8Array }
  | { readonly type: 'taken' }
  | { readonly type: 'end' }
  | { readonly type: 'broken'; readonly why: string; readonly code: string | undefined }

/** One end of a byte stream between two threads, with backpressure. */
export class PortStream extends Duplex {
  readonly #port: MessagePort
  #onTaken: (() => void) | undefined
  /** Whether the writer waits to hear that its chunk was taken. */
  #owesTaken = false

  constructor(port: MessagePort) {
    super()
    this.#port = port
    port.on('message', (part: Part) => this.#receive(part))
    port.once('close', () => this.destroy())
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#onTaken = done
    // A copy: sending a part of a larger buffer would send all of it.
    this.#send({ type: 'chunk', bytes: new Uint8Array(chunk) })
  }

  override _final(done: () => void): void {
    this.#send({ type: 'end' })
    done()
  }

  override _read(): void {
    if (!this.#owesTaken) return
    this.#owesTaken = false
    this.#send({ type: 'taken' })
  }

  override _destroy(error: NodeJS.ErrnoException | null, done: (error: Error | null) => void): void {
    if (error !== null) this.#send({ type: 'broken', why: error.message, code: error.code })
    this.#port.close()
    done(error)
  }

  #receive(part: Part): void {
    if (part.type === 'chunk') {
      this.#owesTaken = true
      if (this.push(part.bytes)) this._read()
    } else if (part.type === 'end') this.push(null)
    else if (part.type === 'broken') this.destroy(Object.assign(new Error(part.why), { code: part.code }))
    else {
      const done = this.#onTaken
      this.#onTaken = undefined
      done?.()
    }
  }

  #send(part: Part): void {
    this.#port.postMessage(part)
  }
}
