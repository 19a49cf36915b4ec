/** Destinations of audit events. */
import type { AuditEvent } from './event.ts'

/** Receives events. A sink logs and counts events that it cannot write. */
export interface Sink {
  /**
   * Returns a promise if the request must wait until the buffer has room or the event is written. The promise rejects
   * only in strict mode, which fails requests that cannot be recorded.
   */
  write(event: AuditEvent): void | Promise<void>
  /** Writes all buffered events. */
  close(): Promise<void>
}

/** Maximum number of events that a sink keeps in memory before it builds their texts. */
export const maxUnwritten = 64

/**
 * Modes of a sink. `blocking` writes while the request waits. `blocking-strict` also fails the request if the write
 * fails. `batch` writes later, in batches.
 */
export const sinkModes = ['blocking', 'blocking-strict', 'batch'] as const
export type SinkMode = (typeof sinkModes)[number]

/** Receives the failures of a sink. */
export interface SinkFaults {
  /** Reports the number of lost events and the cause of the loss. */
  lost(events: number, error: unknown): void
}

/** Size limits for events and batches. Events above the limit are truncated if truncation is enabled. */
export interface Truncation {
  readonly isEnabled: boolean
  readonly maxEvent: number
  readonly maxBatch: number
}

/**
 * Returns the text of an event, or a shortened text if the event is too long. Returns undefined if the shortened text
 * is too long as well.
 */
export function textWithin({ isEnabled, maxEvent }: Truncation, event: AuditEvent): string | undefined {
  const { text } = event
  if (!isEnabled || text.length <= maxEvent) return text
  const shortened = event.shortened()
  return shortened.length <= maxEvent ? shortened : undefined
}
