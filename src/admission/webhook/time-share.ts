/**
 * How long a webhook is waited for. Never longer than it says, nor than the request may take. Webhooks that are to be
 * ignored when they fail share what is left with all that come after them, so that no number of them that hang can use
 * up the time of a request: there is always some left for the write itself.
 *
 * A share does not fall below a second, nor, where there are very many webhooks, below their part of the time that a
 * request has unless its client asks for less: a client that leaves less time gets no answer in time, rather than a write
 * that nobody was asked about.
 */
import type { Webhook } from './webhook.ts'

/** For validation and the store. */
const reservedMs = 1000
const minShareMs = 1000
/** What a request has unless its client asks for less. */
const defaultMs = 60_000

export interface Remaining {
  /** The time that the request has left. */
  readonly leftMs: number
  /** How many calls come one after the other from here on, with this one. */
  readonly calls: number
  /** How many the request makes one after the other in all. */
  readonly allCalls: number
}

export function timeFor({ timeoutMs, ignoresFailures }: Webhook, { leftMs, calls, allCalls }: Remaining): number {
  const left = leftMs - reservedMs
  const least = Math.min(minShareMs, (defaultMs - reservedMs) / allCalls)
  const share = ignoresFailures ? Math.max(least, left / calls) : Math.max(minShareMs, left)
  return Math.min(timeoutMs, share)
}
