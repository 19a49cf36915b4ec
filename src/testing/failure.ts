/** Defines the failures that a test can inject into calls. */
import type { Call } from './call-log.ts'

/** The way in which an injected failure makes a call fail. */
export type Failure =
  /** Responds with this status code without executing the request. */
  | {
      readonly code: number
      /** Reason in the Status. Defaults to the reason for the code, such as `Conflict` for 409. */
      readonly reason?: string
      readonly message?: string
      /** Value of the `Retry-After` header in seconds. */
      readonly retryAfter?: number
    }
  /**
   * Closes the connection before the request is executed (`'request'`) or afterwards (`'answer'`). In the latter case,
   * only the response is lost. The response to a watch ends after `afterEvents` events (0 by default).
   */
  | { readonly cut: 'request' | 'answer'; readonly afterEvents?: number }
  /** Executes the request after this many milliseconds. */
  | { readonly delayMs: number }

/** A planned failure, which may already have happened. */
export interface PlannedFailure {
  /** Resolves to the failed call once the failure has happened. */
  readonly happened: Promise<Call>
  /** Cancels the failure if it has not happened yet. */
  cancel(): void
}
