/**
 * One reader of a kind's changes, with a bounded queue of encoded events.
 *
 * It first reads by itself what happened before it came, at its own pace, and nothing is queued; `begin` is called in
 * the turn in which it has come to the present. From then on the cache pushes and never waits. A reader that lets its
 * queue run over is closed: its client lists again and nobody else feels it. What is queued goes out as few writes.
 */

import type { JsonObject } from '../../api/json/json.ts'
import { ApiError, failure } from '../../api/model/api-error.ts'
import type { CacheEvent, EventForm, EventType, Matches } from './event.ts'

/** Which objects a watcher wants. */
export interface Selection {
  /** Only objects of this namespace; undefined: of all. */
  readonly namespace: string | undefined
  /** Only the object of this name. */
  readonly name: string | undefined
  readonly matches: Matches | undefined
}

/** An event for which the reader waits. */
interface Untold {
  readonly event: CacheEvent
  readonly type: EventType
}

type Prepare = NonNullable<EventForm['prepare']>

/** How many events are asked about together. */
const atOnce = 100

const maxQueuedEvents = 10_000
const maxQueuedBytes = 16 * 1024 * 1024

/** One watch: a bounded queue of events that wait to be sent. */
export class Watcher {
  readonly selection: Selection
  /** Called when it is closed. */
  onEnd: () => void = () => {}
  /** Everything up to this revision has been pushed or was not for this reader; until it begins, nothing is. */
  revision = Number.POSITIVE_INFINITY
  /** How the next event is written. */
  #form: EventForm
  #queue: Buffer[] = []
  /** Events that cannot be written yet, as somebody else must be asked first; none after them is written before. */
  #waiting: Untold[] = []
  #bytes = 0
  #closed = false
  /** Nothing more comes: it closes when all that is queued has been taken. */
  #finishing = false
  #wake: (() => void) | undefined
  readonly #onClose: (watcher: Watcher) => void

  constructor(selection: Selection, form: EventForm, onClose: (watcher: Watcher) => void) {
    this.selection = selection
    this.#form = form
    this.#onClose = onClose
  }

  get closed(): boolean {
    return this.#closed
  }

  /** The form of the next event, which is about to be written. */
  nextForm(): EventForm {
    const form = this.#form
    this.#form = form.rest ?? form
    return form
  }

  /** The reader has everything up to this revision, however it got it; what comes after is queued. */
  begin(revision: number): void {
    this.revision = revision
    if (this.#finishing) this.close()
  }

  /** There will be no more events: the reader is given what there was, and then it ends. */
  finish(): void {
    this.#finishing = true
    const hasBegun = this.revision !== Number.POSITIVE_INFINITY
    if (hasBegun && this.#isEmpty()) this.close()
  }

  #isEmpty(): boolean {
    return this.#queue.length + this.#waiting.length === 0
  }

  push(event: CacheEvent): void {
    if (event.revision <= this.revision) return
    this.revision = event.revision
    const type = event.typeFor(this.selection.matches)
    if (type === undefined || this.#closed) return
    if (this.#form.prepare === undefined) this.#enqueue(event.bytes(this.nextForm(), type))
    else this.#tell({ event, type }, this.#form.prepare)
  }

  /** Writes the event when it can be, after those that wait already. */
  #tell(untold: Untold, prepare: Prepare): void {
    const isFirst = this.#waiting.length === 0
    const preparing = isFirst ? prepare([shownIn(untold)]) : undefined
    if (isFirst && preparing === undefined) {
      this.#write(untold)
      return
    }
    this.#waiting.push(untold)
    if (this.#waiting.length > maxQueuedEvents) this.close()
    else if (preparing !== undefined) void this.#writeWaiting(preparing, prepare)
  }

  async #writeWaiting(first: Promise<void>, prepare: Prepare): Promise<void> {
    try {
      await first
      for (let ready = 1; this.#waiting.length > 0 && !this.#closed; ready = Math.min(this.#waiting.length, atOnce)) {
        const some = this.#waiting.slice(0, ready)
        await prepare(some.map(shownIn))
        this.#waiting.splice(0, ready)
        for (const untold of some) this.#write(untold)
      }
    } catch (error) {
      this.#fail(error)
    }
    if (this.#finishing && this.#isEmpty()) this.close()
  }

  /** The reader is told why it gets no more events. */
  #fail(error: unknown): void {
    this.#waiting = []
    if (error instanceof ApiError) {
      this.#enqueue(this.#form.tell('ERROR', failure(error) as unknown as JsonObject))
      this.finish()
    } else this.close()
  }

  #write({ event, type }: Untold): void {
    if (!this.#closed) this.#enqueue(event.bytes(this.nextForm(), type))
  }

  /** A mark that everything before it has been sent; there is none while something is not. */
  bookmark(bytes: Buffer): void {
    if (!this.#closed && this.#waiting.length === 0) this.#enqueue(bytes)
  }

  #enqueue(bytes: Buffer): void {
    this.#queue.push(bytes)
    this.#bytes += bytes.length
    if (this.#queue.length > maxQueuedEvents || this.#bytes > maxQueuedBytes) this.close()
    else this.#wake?.()
  }

  /** What is queued, up to the event that brings it to so many bytes; empty when nothing is. */
  take(bytes: number): Buffer[] {
    const taken = this.#bytes <= bytes ? this.#queue : this.#queue.splice(0, countUpTo(this.#queue, bytes))
    if (taken === this.#queue) this.#queue = []
    for (const { length } of taken) this.#bytes -= length
    if (this.#finishing && this.#isEmpty()) this.close()
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
    this.#waiting = []
    this.#onClose(this)
    this.#wake?.()
    this.onEnd()
  }
}

function shownIn({ event, type }: Untold) {
  return event.shown(type)
}

function countUpTo(buffers: readonly Buffer[], bytes: number): number {
  let size = 0
  const last = buffers.findIndex(({ length }) => {
    size += length
    return size >= bytes
  })
  return last < 0 ? buffers.length : last + 1
}
