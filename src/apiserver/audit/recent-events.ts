/**
 * Stores the latest audit events in memory, bounded by count and size. Events are stored as bytes, because long-lived
 * objects burden the garbage collector.
 */
import type { AuditEvent } from './event.ts'
import { Lines } from './lines.ts'
import { maxUnwritten, type Sink } from './sink.ts'

const maxEvents = 1000
/** Maximum size in bytes of each of the two buffers: one for older events and one for newer events. */
const maxLength = 2 * 1024 * 1024
/** Maximum size of an event in bytes. Longer events are stored without their bodies. */
const maxEventBytes = 16 * 1024

/** An audit sink that stores the latest events in memory. */
export class RecentEvents implements Sink {
  #newer = new Lines(4 * maxLength)
  /**
   * Older events. When the buffer of newer events is full, the older events are dropped and the newer events take their
   * place.
   */
  #older = new Lines(4 * maxLength)

  /** Events whose text has not been built yet. The sink builds the texts of many events together. */
  readonly #unwritten: AuditEvent[] = []

  write(event: AuditEvent): void {
    if (event.stage !== 'ResponseComplete') return
    if (this.#unwritten.push(event) >= maxUnwritten || event.isLong) this.#writeTexts()
  }

  /** Returns the events, oldest first. */
  all(): readonly string[] {
    this.#writeTexts()
    return [...this.#older.texts, ...this.#newer.texts].slice(-maxEvents)
  }

  async close(): Promise<void> {}

  #writeTexts(): void {
    for (const event of this.#unwritten) this.#keep(event)
    this.#unwritten.length = 0
  }

  #keep(event: AuditEvent): void {
    const { text } = event
    const eventText = text.length > maxEventBytes ? event.shortened() : text
    if (eventText.length > maxLength) return
    if (this.#newer.count === maxEvents || this.#newer.length + eventText.length > maxLength) this.#age()
    this.#newer.add(eventText)
  }

  #age(): void {
    const forgotten = this.#older
    forgotten.clear()
    this.#older = this.#newer
    this.#newer = forgotten
  }
}
