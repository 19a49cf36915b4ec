/**
 * Defines the error for an operation on an object from a file. The error includes the position of the object in the
 * file.
 */
import type { Origin } from './manifest.ts'

/** Thrown if an operation on an object from a file fails. `explain-refusal.ts` formats the error. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  readonly origin: Origin
  /** The operation that failed, such as `creating`. */
  readonly doing: string
  /** Display name of the object in the error message, for example `configmap/a`. */
  readonly subject: string

  constructor({ origin, doing, subject }: { origin: Origin; doing: string; subject: string }, cause: unknown) {
    super(`error when ${doing} ${JSON.stringify(origin.name)}`, { cause })
    this.origin = origin
    this.doing = doing
    this.subject = subject
  }
}
