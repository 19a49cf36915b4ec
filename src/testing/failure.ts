/** Failures that a test can ask for. */
import type { Call } from './call-log.ts'

/** What happens to a call. */
export type Failure =
  /** It is answered with this code, and nothing is carried out. */
  | {
      readonly code: number
      /** The reason in the Status; that of the code by default, such as `Conflict` for 409. */
      readonly reason?: string
      readonly message?: string
      /** Seconds, for the header `Retry-After`. */
      readonly retryAfter?: number
    }
  /**
   * The connection breaks: before the request is carried out (`'request'`), or after it, so that only its answer is lost
   * (`'answer'`). The answer of a watch breaks off after so many events: `afterEvents`, 0 by default.
   */
  | { readonly cut: 'request' | 'answer'; readonly afterEvents?: number }
  /** It is carried out after so many milliseconds. */
  | { readonly delayMs: number }

/** A failure that a test has asked for. */
export interface PlannedFailure {
  /** Resolves with the call that it happened to. */
  readonly happened: Promise<Call>
  /** Takes it back, if it has not happened. */
  cancel(): void
}
