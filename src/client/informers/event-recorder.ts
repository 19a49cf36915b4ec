/**
 * Records Events about objects. `record` returns immediately, and the Event is written in the background. An Event that
 * cannot be written is dropped.
 *
 * The number of Events is bounded. Repetitions increment the count of the existing Event. Events that differ only in
 * their message are combined into one Event after the first few. For an object with constant activity, the recorder
 * first writes a burst of Events, and then one Event every few minutes. The queue and the cache of earlier Events have
 * maximum sizes.
 */

import type { Event } from '../../api/kinds/core/event.ts'
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import { TokenBucket } from '../../base/limits/token-bucket.ts'
import { shorten } from '../../base/text/shorten.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import * as kinds from '../requests/built-in-kinds.ts'
import type { Client } from '../requests/client.ts'
import { isNotFound } from '../requests/status-error.ts'

/** The type, reason and message of an Event. */
export interface Happening {
  readonly type: 'Normal' | 'Warning'
  /** The reason for the Event, as one machine-readable word. */
  readonly reason: string
  readonly message: string
}

/** Options of an event recorder. */
export interface EventRecorderOptions {
  readonly client: Client
  /** The name of the reporting component, for `source.component`. */
  readonly component: string
  /** The clock for the times of Events. Defaults to the system clock. */
  readonly clock?: Clock
  /** Called with the error if an Event cannot be written. */
  readonly onError: (error: unknown) => void
}

/** Maximum number of earlier Events in the cache. This limit and the rate are the same as in client-go's recorder. */
const maxRemembered = 4096
const maxWaiting = 1000
const maxAlike = 10
const alikeMs = 10 * 60_000
/** Rate limit of Events per object. */
const rate = { perSecond: 1 / (5 * 60), burst: 25 }
const maxMessage = 1024
const combined = '(combined from similar events): '

interface Written {
  readonly name: string
  readonly namespace: string
  readonly first: number
  count: number
}

interface Alike {
  readonly messages: Set<string>
  last: number
}

/** Records Events about objects. Repeated Events increment a count. */
export class EventRecorder {
  readonly #options: EventRecorderOptions & { readonly clock: Clock }
  readonly #writtenEvents = new BoundedMap<string, Written>(maxRemembered)
  readonly #alike = new BoundedMap<string, Alike>(maxRemembered)
  readonly #buckets = new BoundedMap<string, TokenBucket>(maxRemembered)
  readonly #stopped = new AbortController()
  #waiting = 0
  #writes: Promise<void> = Promise.resolve()
  #serial = 0

  constructor(options: EventRecorderOptions) {
    this.#options = { clock: systemClock, ...options }
  }

  record(object: ObjectBase, happening: Happening): void {
    const { apiVersion, kind, metadata } = object
    const about = [apiVersion, kind, metadata.namespace, metadata.name, metadata.uid].join('\0')
    if (this.#stopped.signal.aborted || this.#waiting >= maxWaiting || !this.#mayReport(about)) return
    const message = this.#combine(about, happening)
    this.#waiting++
    this.#writes = this.#writes
      .then(() => this.#write(object, { ...happening, message }, `${about}\0${message}`))
      .catch((error: unknown) => {
        if (!this.#stopped.signal.aborted) this.#options.onError(error)
      })
      .finally(() => this.#waiting--)
  }

  /** Resolves when all recorded Events have been written or dropped. */
  async flush(): Promise<void> {
    await this.#writes
  }

  /** Stops writing Events. */
  stop(): void {
    this.#stopped.abort()
  }

  /**
   * Whether the rate limit allows another Event about an object. The limit allows a burst first, and then one Event
   * every few minutes.
   */
  #mayReport(about: string): boolean {
    const { clock } = this.#options
    const bucket = this.#buckets.get(about) ?? new TokenBucket(rate, () => clock.monotonic())
    this.#buckets.set(about, bucket)
    return bucket.take() === 0
  }

  /** Returns the message for an Event. After too many similar Events, returns the message of the combined Event. */
  #combine(about: string, { type, reason, message }: Happening): string {
    const now = this.#options.clock.monotonic()
    const key = `${about}\0${type}\0${reason}`
    const existing = this.#alike.get(key)
    const alike =
      existing === undefined || now - existing.last > alikeMs ? { messages: new Set<string>(), last: now } : existing
    alike.last = now
    const text = shorten(message, maxMessage - combined.length)
    if (alike.messages.size < maxAlike) alike.messages.add(text)
    this.#alike.set(key, alike)
    return alike.messages.has(text) ? text : `${combined}${[...alike.messages].at(-1)}`
  }

  async #write(object: ObjectBase, happening: Happening, alikeKey: string): Promise<void> {
    const key = `${alikeKey}\0${happening.type}\0${happening.reason}`
    const existing = this.#writtenEvents.get(key)
    const isCounted = existing !== undefined && (await this.#count(existing))
    if (isCounted) return
    const event = this.#eventOf(object, happening)
    await this.#options.client.create(kinds.Event, event, { signal: this.#stopped.signal })
    const { name = '', namespace = '' } = event.metadata
    this.#writtenEvents.set(key, { name, namespace, first: this.#options.clock.now(), count: 1 })
  }

  /** Increments the count of a recorded Event on the server. Returns false if the Event no longer exists. */
  async #count(existing: Written): Promise<boolean> {
    existing.count++
    const merge = { count: existing.count, lastTimestamp: timestamp(this.#options.clock.now()) }
    try {
      const { name, namespace } = existing
      await this.#options.client.patch(
        kinds.Event,
        { name, namespace },
        { patch: { merge }, signal: this.#stopped.signal },
      )
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  #eventOf({ apiVersion, kind, metadata }: ObjectBase, { type, reason, message }: Happening): Event & ApiObject {
    const { name = '', namespace, uid, resourceVersion } = metadata
    const now = this.#options.clock.now()
    const time = timestamp(now)
    const suffix = (BigInt(now) * 1_000_000n + BigInt(this.#serial++ % 1_000_000)).toString(16)
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${shorten(name, 200)}.${suffix}`, namespace: namespace ?? 'default' },
      involvedObject: {
        apiVersion,
        kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: this.#options.component },
    }
  }
}

function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
