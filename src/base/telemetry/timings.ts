/**
 * Records when the phases of a request begin and end. The log contains the durations of the phases of slow requests,
 * and traces contain the phases as spans. Recording a phase takes two clock readings.
 */
import { performance } from 'node:perf_hooks'

/** A phase of a request whose duration the server measures. */
export type PartName = 'authentication' | 'queue' | 'authorization' | 'body' | 'admission' | 'store' | 'client'

/**
 * A phase of a request with its start and end in monotonic milliseconds. `end` is undefined while the phase is running.
 */
export interface Part {
  readonly name: PartName
  readonly begin: number
  end: number | undefined
}

/** Maximum number of recorded phases. Some requests, such as deletions of thousands of objects, have more phases. */
const maxParts = 64

/** Records the phases of a request. */
export class Timings {
  readonly parts: Part[] = []

  /** Awaits a promise and records how long it took, even if it fails. */
  async time<T>(name: PartName, pending: Promise<T>): Promise<T> {
    const part: Part = { name, begin: performance.now(), end: undefined }
    if (this.parts.length < maxParts) this.parts.push(part)
    try {
      return await pending
    } finally {
      part.end = performance.now()
    }
  }

  /** Returns the total duration of each phase in milliseconds, for a request that ended at `end`. */
  sums(end: number): Map<PartName, number> {
    const sums = new Map<PartName, number>()
    for (const part of this.parts) sums.set(part.name, (sums.get(part.name) ?? 0) + (part.end ?? end) - part.begin)
    return sums
  }
}
