/**
 * How long the server waits for a webhook: at most as long as the webhook's configuration says. Webhooks whose failures are
 * ignored share the time that this server allows a request, so that webhooks that hang leave time for the write itself.
 *
 * The time that a client allows plays no part here. A call that is cut by the client's deadline ends the request; it is
 * never a failure of the webhook, or a client could skip any webhook with `failurePolicy: Ignore`. For the same reason time
 * counts from the start of admission: a client may take as long as it likes to send its body.
 */
import type { Webhook } from './webhook.ts'

/** For validation and the store. */
const reservedMs = 1000
const minShareMs = 1000

export interface Remaining {
  /** The time that this server allows a request. */
  readonly limitMs: number
  /** The part of it that is left since admission began. */
  readonly leftMs: number
  /** How many calls come one after the other from here on, with this one. */
  readonly calls: number
  /** How many the request makes one after the other in all. */
  readonly allCalls: number
}

/** A share does not fall below a second, or where there are very many webhooks, below an equal part of the time. */
export function timeFor(
  { timeoutMs, ignoresFailures }: Webhook,
  { limitMs, leftMs, calls, allCalls }: Remaining,
): number {
  if (!ignoresFailures) return timeoutMs
  const minMs = Math.min(minShareMs, Math.max(0, limitMs - reservedMs) / allCalls)
  return Math.min(timeoutMs, Math.max(minMs, (leftMs - reservedMs) / calls))
}
