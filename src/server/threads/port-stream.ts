/**
 * A byte stream between two threads over a message channel. Each chunk is sent only after the reader has consumed the
 * previous one. A slow reader therefore slows down the writer, and at most one chunk is in transit in each direction.
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
  /** Whether this end has yet to acknowledge the last chunk that it received. */
  #owesTaken = false

  constructor(port: MessagePort) {
    super()
    this.#port = port
    port.on('message', (part: Part) => this.#receive(part))
    port.once('close', () => this.destroy())
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#onTaken = done
    // Copy the chunk, because posting a view would transfer the whole underlying buffer.
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
