/**
 * Sends events to a webhook as `EventList` objects. A failed request is retried a few times with exponential backoff.
 * If all retries fail, the events in the request are dropped and counted.
 */

import { apiVersionOf, type Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Batches, type BatchOptions } from './batches.ts'
import type { AuditEvent } from './event.ts'
import { type Sink, type SinkFaults, type SinkMode, type Truncation, textWithin } from './sink.ts'

export interface WebhookSinkParts {
  readonly vendor: Vendor
  /** Sends JSON text. Throws an error if the webhook does not accept it. */
  readonly send: (text: string) => Promise<void>
  readonly mode: SinkMode
  readonly batch: BatchOptions
  readonly truncation: Truncation
  readonly firstPauseMs: number
  readonly faults: SinkFaults
  readonly clock: Clock
}

const tries = 5
const longer = 1.5

/** A sink that sends events to a webhook. */
export class WebhookSink implements Sink {
  readonly #parts: WebhookSinkParts
  readonly #batches: Batches
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<void>>()

  constructor(parts: WebhookSinkParts) {
    const { batch, faults, clock } = parts
    this.#parts = parts
    this.#batches = new Batches(batch, { send: (events) => this.#send(events), faults, clock })
  }

  write(event: AuditEvent): void | Promise<void> {
    const { truncation, mode, faults } = this.#parts
    const text = textWithin(truncation, event)
    if (text === undefined) return faults.lost(1, new Error('an event exceeds the size limit even without its bodies'))
    if (mode === 'batch') return this.#batches.add(text)
    const sent = this.#sendOne(text)
    this.#underWay.add(sent)
    sent.catch(() => {}).finally(() => this.#underWay.delete(sent))
    if (event.stage !== 'RequestReceived') return
    return mode === 'blocking-strict' ? sent : sent.catch(() => {})
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#batches.close()
    await Promise.allSettled(this.#underWay)
  }

  async #sendOne(text: string): Promise<void> {
    try {
      await this.#send([text])
    } catch (error) {
      this.#parts.faults.lost(1, error)
      throw error
    }
  }

  /**
   * Sends events and retries failed attempts. A shutdown ends the pause between two attempts and allows one last
   * attempt.
   */
  async #send(events: readonly string[]): Promise<void> {
    const { vendor, send, firstPauseMs } = this.#parts
    const apiVersion = JSON.stringify(apiVersionOf(vendor, 'audit', 'v1'))
    const list = `{"kind":"EventList","apiVersion":${apiVersion},"metadata":{},"items":[${events.join(',')}]}`
    for (let attempt = 1, pause = firstPauseMs; ; attempt++, pause *= longer) {
      try {
        return await send(list)
      } catch (error) {
        if (attempt === tries || this.#closing.signal.aborted) throw error
        await rest(pause, this.#closing.signal)
      }
    }
  }
}

/** Waits for the given time in milliseconds. Resolves early if the signal aborts. */
function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    timer.unref()
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true })
  })
}
