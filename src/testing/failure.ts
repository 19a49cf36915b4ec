/** Defines the failures that a test can inject into calls. */
import type { Call } from './call-log.ts'

/** How an injected failure makes a call fail. */
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
   * only the response is lost. The response of a watch ends after `afterEvents` events, by default 0.
   */
  | { readonly cut: 'request' | 'answer'; readonly afterEvents?: number }
  /** Executes the request after this many milliseconds. */
  | { readonly delayMs: number }

/** A planned failure. The planned call may already have failed. */
export interface PlannedFailure {
  /** Resolves when the failure has happened, to the call that failed. */
  readonly happened: Promise<Call>
  /** Cancels the failure if it has not happened. */
  cancel(): void
}
