/**
 * One reader of a kind's changes, with a bounded queue of encoded events.
 *
 * The cache pushes and never waits. A reader that lets its queue run over is closed: its client lists again and
 * nobody else feels it. What is queued is taken all at once, to go out as one write.
 */
import type { CacheEvent, EventForm, Matches } from './event.ts'

export interface Selection {
  /** Only objects of this namespace; undefined: of all. */
  readonly namespace: string | undefined
  /** Only the object of this name. */
  readonly name: string | undefined
  readonly matches: Matches | undefined
}

const maxQueuedEvents = 10_000
const maxQueuedBytes = 16 * 1024 * 1024

export class Watcher {
  readonly selection: Selection
  /** How the next event is written. */
  form: EventForm
  /** Called when it is closed. */
  onEnd: () => void = () => {}
  /** Everything up to this revision has been pushed or was not for this reader. */
  revision: number
  #queue: Buffer[] = []
  #bytes = 0
  #closed = false
  #wake: (() => void) | undefined
  readonly #onClose: (watcher: Watcher) => void

  constructor(selection: Selection, form: EventForm, revision: number, onClose: (watcher: Watcher) => void) {
    this.selection = selection
    this.form = form
    this.revision = revision
    this.#onClose = onClose
  }

  get closed(): boolean {
    return this.#closed
  }

  push(event: CacheEvent): void {
    if (event.revision <= this.revision) return
    this.revision = event.revision
    const type = event.typeFor(this.selection.matches)
    if (type === undefined || this.#closed) return
    this.#enqueue(event.bytes(this.form, type))
    this.form = this.form.rest ?? this.form
  }

  /** A mark that everything before it has been sent. */
  bookmark(bytes: Buffer): void {
    if (!this.#closed) this.#enqueue(bytes)
  }

  #enqueue(bytes: Buffer): void {
    this.#queue.push(bytes)
    this.#bytes += bytes.length
    if (this.#queue.length > maxQueuedEvents || this.#bytes > maxQueuedBytes) this.close()
    else this.#wake?.()
  }

  /** All that is queued; empty when nothing is. */
  take(): Buffer[] {
    const taken = this.#queue
    this.#queue = []
    this.#bytes = 0
    return taken
  }

  /** Resolves when something is queued or the watcher is closed. */
  ready(): Promise<void> {
    if (this.#queue.length > 0 || this.#closed) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#queue = []
    this.#onClose(this)
    this.#wake?.()
    this.onEnd()
  }
}
