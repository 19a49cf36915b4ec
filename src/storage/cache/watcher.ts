/**
 * A watcher of one kind's changes, with a bounded queue of encoded events.
 *
 * The reader of the queue first reads earlier events at its own speed, without the queue. As soon as it has caught up,
 * it calls `begin` in the same turn of the event loop. After that call, the cache pushes events and never waits. A
 * watcher whose queue overflows is closed, and its client must list again. Other watchers are not affected. Queued
 * events are sent in as few writes as possible.
 */

import type { JsonObject } from '../../api/json/json.ts'
import { ApiError, failure } from '../../api/model/api-error.ts'
import type { CacheEvent, EventForm, EventType, Matches } from './event.ts'

/** The objects that a watcher selects. */
export interface Selection {
  /** The namespace of the selected objects. Undefined selects all namespaces. */
  readonly namespace: string | undefined
  /** The name of the selected object. Undefined selects all names. */
  readonly name: string | undefined
  readonly matches: Matches | undefined
}

/** An event that is not encoded yet. */
interface PendingEvent {
  readonly event: CacheEvent
  readonly type: EventType
}

/** Maximum number of events to prepare for encoding at a time. */
const atOnce = 100

const maxQueuedEvents = 10_000
const maxQueuedBytes = 16 * 1024 * 1024

/** A watch with a bounded queue of events to send. */
export class Watcher {
  readonly selection: Selection
  /** Called when the watcher is closed. */
  onEnd: () => void = () => {}
  /**
   * The watcher has received or filtered out all events up to this revision. The revision is infinite until the watcher
   * begins, so that no event is pushed.
   */
  revision = Number.POSITIVE_INFINITY
  /** The encoding for the next event, which can differ from the encoding for later events. */
  #form: EventForm
  #queue: Buffer[] = []
  /**
   * Events whose encoding needs a remote call or several turns of the event loop. Later events wait too, to preserve the
   * order.
   */
  #waiting: PendingEvent[] = []
  #bytes = 0
  #closed = false
  /** Whether no more events will follow, so that the watcher closes when its queue is empty. */
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

  /** The encoding for the next event. */
  get form(): EventForm {
    return this.#form
  }

  /** Returns the encoding for the next event, and then switches to the encoding for later events. */
  nextForm(): EventForm {
    const form = this.#form
    this.#form = form.rest ?? form
    return form
  }

  /** Starts queueing events. The reader already has all events up to the given revision. */
  begin(revision: number): void {
    this.revision = revision
    if (this.#finishing) this.close()
  }

  /** Ends the watch after the reader has received all queued events. */
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
    const isFirst = this.#waiting.length === 0
    const preparing = isFirst
      ? (this.#form.prepare?.([event.objectFor(type)]) ?? event.encodeAhead(this.#form, type))
      : undefined
    if (isFirst && preparing === undefined) {
      this.#enqueue(event.bytes(this.nextForm(), type))
      return
    }
    this.#waiting.push({ event, type })
    if (this.#waiting.length > maxQueuedEvents) this.close()
    else if (preparing !== undefined) void this.#writeWaiting(preparing)
  }

  /** Encodes and queues the waiting events in order. */
  async #writeWaiting(first: Promise<void>): Promise<void> {
    try {
      await first
      for (let ready = 1; this.#waiting.length > 0 && !this.#closed; ready = Math.min(this.#waiting.length, atOnce)) {
        const some = this.#waiting.slice(0, ready)
        await this.#form.prepare?.(some.map(objectIn))
        for (const pending of some) {
          await pending.event.encodeAhead(this.#form, pending.type)
          // The event waits until it is queued, so that later events cannot overtake it.
          this.#waiting.shift()
          this.#write(pending)
        }
      }
    } catch (error) {
      this.#fail(error)
    }
    if (this.#finishing && this.#isEmpty()) this.close()
  }

  /** Ends the watch with an error, which is passed to its reader. */
  #fail(error: unknown): void {
    this.#waiting = []
    if (error instanceof ApiError) {
      this.#enqueue(this.#form.encodeBookmarkOrError('ERROR', failure(error) as unknown as JsonObject))
      this.finish()
    } else this.close()
  }

  #write({ event, type }: PendingEvent): void {
    if (!this.#closed) this.#enqueue(event.bytes(this.nextForm(), type))
  }

  /**
   * Queues a bookmark, which tells the client that it has received all earlier events. Does nothing while events wait
   * to be encoded.
   */
  bookmark(bytes: Buffer): void {
    if (!this.#closed && this.#waiting.length === 0) this.#enqueue(bytes)
  }

  #enqueue(bytes: Buffer): void {
    this.#queue.push(bytes)
    this.#bytes += bytes.length
    if (this.#queue.length > maxQueuedEvents || this.#bytes > maxQueuedBytes) this.close()
    else this.#wake?.()
  }

  /**
   * Returns queued events, up to and including the event with which their total size reaches the given number of bytes.
   * Returns an empty array if no event is queued.
   */
  take(bytes: number): Buffer[] {
    const chunks = this.#bytes <= bytes ? this.#queue : this.#queue.splice(0, countUpTo(this.#queue, bytes))
    if (chunks === this.#queue) this.#queue = []
    for (const { length } of chunks) this.#bytes -= length
    if (this.#finishing && this.#isEmpty()) this.close()
    return chunks
  }

  /** Resolves when an event is queued or the watcher is closed. */
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

function objectIn({ event, type }: PendingEvent) {
  return event.objectFor(type)
}

function countUpTo(buffers: readonly Buffer[], bytes: number): number {
  let size = 0
  const last = buffers.findIndex(({ length }) => {
    size += length
    return size >= bytes
  })
  return last < 0 ? buffers.length : last + 1
}
