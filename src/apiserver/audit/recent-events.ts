/**
 * The latest events, in memory: who did what just now. Bounded in number and length; older ones make room. They are kept
 * as bytes, since a thousand events that live for a while and then die are what the garbage collector is worst at.
 */
import type { AuditEvent } from './event.ts'
import { Lines } from './lines.ts'
import { maxUnwritten, type Sink } from './sink.ts'

const maxEvents = 1000
/** Of the newer and of the older events each, in bytes. */
const maxLength = 2 * 1024 * 1024
/** A longer one is kept without bodies. */
const longestEvent = 16 * 1024

/** A sink that remembers the latest events. */
export class RecentEvents implements Sink {
  #newer = new Lines(4 * maxLength)
  /** When the newer ones are enough they take the place of these. */
  #older = new Lines(4 * maxLength)

  /** Those of the last moment: their texts are written together. */
  readonly #unwritten: AuditEvent[] = []

  write(event: AuditEvent): void {
    if (event.stage !== 'ResponseComplete') return
    if (this.#unwritten.push(event) >= maxUnwritten || event.isLong) this.#writeTexts()
  }

  /** The texts from the oldest to the newest. */
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
    const kept = text.length > longestEvent ? event.shortened() : text
    if (kept.length > maxLength) return
    if (this.#newer.count === maxEvents || this.#newer.length + kept.length > maxLength) this.#age()
    this.#newer.add(kept)
  }

  #age(): void {
    const forgotten = this.#older
    forgotten.clear()
    this.#older = this.#newer
    this.#newer = forgotten
  }
}
