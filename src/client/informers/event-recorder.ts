/**
 * Reports what happened to objects, as Events: `record` returns at once, the Event is written in the background, and an
 * Event that cannot be written is lost, as it only reports.
 *
 * All of it is bounded. What repeats is counted in the Event that is there. Of many that differ in their message alone
 * the later ones become one. An object that something happens to all the time gets a burst of Events and then one every
 * few minutes. What waits, and what is remembered of earlier Events, has a largest size.
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

/** What an Event tells of an object. */
export interface Happening {
  readonly type: 'Normal' | 'Warning'
  /** Why, in one word for programs. */
  readonly reason: string
  readonly message: string
}

/** Who reports, and how. */
export interface EventRecorderOptions {
  readonly client: Client
  /** Who reports: `source.component`. */
  readonly component: string
  /** The clock of this machine by default. */
  readonly clock?: Clock
  /** Told why an Event could not be written. */
  readonly onError: (error: unknown) => void
}

/** As many as client-go's recorder allows of each. */
const maxRemembered = 4096
const maxWaiting = 1000
const maxAlike = 10
const alikeMs = 10 * 60_000
/** Of the Events about one object. */
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

/** Records Events about objects; those that repeat are counted in one. */
export class EventRecorder {
  readonly #options: EventRecorderOptions & { readonly clock: Clock }
  readonly #written = new BoundedMap<string, Written>(maxRemembered)
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

  /** Resolves when what was recorded so far has been written, or could not be. */
  async flush(): Promise<void> {
    await this.#writes
  }

  /** Nothing is written from now on. */
  stop(): void {
    this.#stopped.abort()
  }

  /** A burst, and then one from time to time. */
  #mayReport(about: string): boolean {
    const { clock } = this.#options
    const bucket = this.#buckets.get(about) ?? new TokenBucket(rate, () => clock.monotonic())
    this.#buckets.set(about, bucket)
    return bucket.take() === 0
  }

  /** The message, or the one that stands for all further messages about the same. */
  #combine(about: string, { type, reason, message }: Happening): string {
    const now = this.#options.clock.monotonic()
    const key = `${about}\0${type}\0${reason}`
    const known = this.#alike.get(key)
    const alike = known === undefined || now - known.last > alikeMs ? { messages: new Set<string>(), last: now } : known
    alike.last = now
    const text = shorten(message, maxMessage - combined.length)
    if (alike.messages.size < maxAlike) alike.messages.add(text)
    this.#alike.set(key, alike)
    return alike.messages.has(text) ? text : `${combined}${[...alike.messages].at(-1)}`
  }

  async #write(object: ObjectBase, happening: Happening, alikeKey: string): Promise<void> {
    const key = `${alikeKey}\0${happening.type}\0${happening.reason}`
    const known = this.#written.get(key)
    const isCounted = known !== undefined && (await this.#count(known))
    if (isCounted) return
    const event = this.#eventOf(object, happening)
    await this.#options.client.create(kinds.Event, event, { signal: this.#stopped.signal })
    const { name = '', namespace = '' } = event.metadata
    this.#written.set(key, { name, namespace, first: this.#options.clock.now(), count: 1 })
  }

  /** Whether the Event was there to be counted up. */
  async #count(known: Written): Promise<boolean> {
    known.count++
    const merge = { count: known.count, lastTimestamp: timestamp(this.#options.clock.now()) }
    try {
      const { name, namespace } = known
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
