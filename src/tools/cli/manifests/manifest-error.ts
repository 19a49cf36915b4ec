/** A failure with an object of a file, and where that object was written: `explain-refusal.ts` words it. */
import type { Origin } from './manifest.ts'

/** Something went wrong with an object that was read from a file. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  readonly origin: Origin
  /** What was being done with it: `creating`. */
  readonly doing: string
  /** The object as users name it: `configmap/a`. */
  readonly subject: string

  constructor({ origin, doing, subject }: { origin: Origin; doing: string; subject: string }, cause: unknown) {
    super(`error when ${doing} ${JSON.stringify(origin.name)}`, { cause })
    this.origin = origin
    this.doing = doing
    this.subject = subject
  }
}
