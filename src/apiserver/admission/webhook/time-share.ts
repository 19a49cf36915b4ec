/**
 * Computes the timeout of a webhook call, which never exceeds the timeout configured for the webhook. Webhooks whose
 * failures are ignored also share the server's request timeout, so that hanging webhooks leave time for the write
 * itself.
 *
 * The client's timeout does not affect the timeout of a call. When the client's deadline ends a call, the request ends
 * too, and the call does not count as a failure of the webhook. A client can therefore not skip a webhook with
 * `failurePolicy: Ignore` by setting a short timeout. Nor can a client do so by sending its body slowly, because time
 * is measured from the start of admission.
 */
import type { Webhook } from './webhook.ts'

/** Time in milliseconds that is reserved for validation and the store. */
const reservedMs = 1000
const minShareMs = 1000

export interface Remaining {
  /** This server's request timeout in milliseconds. */
  readonly limitMs: number
  /** Time in milliseconds until the request times out. */
  readonly leftMs: number
  /** Number of sequential calls that the request still has to make, including this one. */
  readonly calls: number
  /** Number of sequential calls that the request makes in total. */
  readonly allCalls: number
}

/**
 * Returns the timeout of a call. A webhook whose failures are ignored gets only a share of the remaining time: at least
 * one second or, if there are very many webhooks, an equal part.
 */
export function timeFor(
  { timeoutMs, ignoresFailures }: Webhook,
  { limitMs, leftMs, calls, allCalls }: Remaining,
): number {
  if (!ignoresFailures) return timeoutMs
  const minMs = Math.min(minShareMs, Math.max(0, limitMs - reservedMs) / allCalls)
  return Math.min(timeoutMs, Math.max(minMs, (leftMs - reservedMs) / calls))
}
