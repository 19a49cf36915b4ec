/** Where audit events go. */
import type { AuditEvent } from './event.ts'

/** Takes events. A sink never throws: what it could not write it counts and logs. */
export interface Sink {
  /**
   * A promise where the request must wait: until there is room for more, or until the event is written. It rejects
   * only in the mode in which a request that cannot be recorded is refused.
   */
  write(event: AuditEvent): void | Promise<void>
  /** Writes what it still holds. */
  close(): Promise<void>
}

/** How many events that are not long a sink may keep as they are, until it writes their texts. */
export const maxUnwritten = 64

/** How a sink writes: while the request waits, strictly so, or later in batches. */
export const sinkModes = ['blocking', 'blocking-strict', 'batch'] as const
export type SinkMode = (typeof sinkModes)[number]

/** Hears of what a sink could not write. */
export interface SinkFaults {
  /** So many events are lost, because of this. */
  lost(events: number, error: unknown): void
}

/** Bounds the length of an event, and of all that are sent at once. */
export interface Truncation {
  readonly isEnabled: boolean
  readonly maxEvent: number
  readonly maxBatch: number
}

/** The text of an event within the bound; undefined where even its shortest form is longer. */
export function textWithin({ isEnabled, maxEvent }: Truncation, event: AuditEvent): string | undefined {
  const { text } = event
  if (!isEnabled || text.length <= maxEvent) return text
  const shortened = event.shortened()
  return shortened.length <= maxEvent ? shortened : undefined
}
