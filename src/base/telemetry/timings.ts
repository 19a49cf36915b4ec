/**
 * Where the time of a request goes: the parts that it waits for, each with its begin and end. The log shows them for slow
 * requests, and traces as spans. To note a part costs two readings of the clock.
 */
import { performance } from 'node:perf_hooks'

/** The parts of a request that are timed. */
export type PartName = 'authentication' | 'queue' | 'authorization' | 'body' | 'admission' | 'store' | 'client'

/** Milliseconds of the monotonic clock; `end` is undefined while the part lasts. */
export interface Part {
  readonly name: PartName
  readonly begin: number
  end: number | undefined
}

/** More are not kept of one request, such as of a deletion of thousands of objects. */
const maxParts = 64

/** The parts of one request. */
export class Timings {
  readonly parts: Part[] = []

  /** Waits for something, and notes how long that took, however it ended. */
  async time<T>(name: PartName, pending: Promise<T>): Promise<T> {
    const part: Part = { name, begin: performance.now(), end: undefined }
    if (this.parts.length < maxParts) this.parts.push(part)
    try {
      return await pending
    } finally {
      part.end = performance.now()
    }
  }

  /** Milliseconds by part, for a request that ended at `end`. */
  sums(end: number): Map<PartName, number> {
    const sums = new Map<PartName, number>()
    for (const part of this.parts) sums.set(part.name, (sums.get(part.name) ?? 0) + (part.end ?? end) - part.begin)
    return sums
  }
}
