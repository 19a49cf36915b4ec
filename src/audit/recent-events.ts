/** The latest events, in memory: who did what just now. Bounded in number and length; older ones make room. */
import type { AuditEvent } from './event.ts'
import type { Sink } from './sink.ts'

const maxEvents = 1000
const maxLength = 4 * 1024 * 1024
/** A longer one is kept without bodies. */
const longestEvent = 16 * 1024

/** A remembered event. Its text is written when somebody reads it. */
export type RecentEvent = Pick<AuditEvent, 'auditId' | 'text' | 'size'>

/** A sink that remembers the latest events. */
export class RecentEvents implements Sink {
  #events: RecentEvent[] = []
  #length = 0

  write(event: AuditEvent): void {
    if (event.stage !== 'ResponseComplete') return
    const kept = event.size > longestEvent ? withoutBodies(event) : event
    this.#events.push(kept)
    this.#length += kept.size
    if (this.#events.length <= 2 * maxEvents && this.#length <= 2 * maxLength) return
    this.#forget()
  }

  /** From the oldest to the newest. */
  all(): readonly RecentEvent[] {
    this.#forget()
    return this.#events
  }

  async close(): Promise<void> {}

  /** Now and then, as each time would move all of them. */
  #forget(): void {
    let first = Math.max(0, this.#events.length - maxEvents)
    let length = this.#events.slice(first).reduce((sum, { size }) => sum + size, 0)
    while (length > maxLength) length -= this.#events[first++]!.size
    this.#events = this.#events.slice(first)
    this.#length = length
  }
}

function withoutBodies(event: AuditEvent): RecentEvent {
  const text = event.shortened()
  return { auditId: event.auditId, text, size: text.length }
}
