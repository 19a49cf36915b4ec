/**
 * Records how long the parts of a request take, with the begin and end of each. The log shows them for slow requests,
 * and traces contain them as spans. Recording a part costs two reads of the clock.
 */
import { performance } from 'node:perf_hooks'

/** The names of the parts of a request. */
export type PartName = 'authentication' | 'queue' | 'authorization' | 'body' | 'admission' | 'store' | 'client'

/** A part of a request, in monotonic milliseconds. `end` is undefined while the part is running. */
export interface Part {
  readonly name: PartName
  readonly begin: number
  end: number | undefined
}

/** Maximum number of recorded parts. Some requests have more, such as the deletion of thousands of objects. */
const maxParts = 64

/** The recorded parts of one request. */
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

  /** Returns the milliseconds of each part, for a request that ended at `end`. */
  sums(end: number): Map<PartName, number> {
    const sums = new Map<PartName, number>()
    for (const part of this.parts) sums.set(part.name, (sums.get(part.name) ?? 0) + (part.end ?? end) - part.begin)
    return sums
  }
}
