/**
 * Tracks loops whose steps the server rejects because their service account lacks a permission. Each such loop is
 * logged once and listed in `/readyz?verbose` until the step succeeds. Until then, rejected keys are retried rarely,
 * because only a change to the policy helps.
 *
 * A missing permission does not make the server unready: the API works, and otherwise all servers of a store would
 * become unready at the same time.
 */

import { ApiError } from '../../api/model/api-error.ts'
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { StatusError } from '../requests/status-error.ts'
import type { StepOutcome } from './work-queue.ts'

const backoff: Backoff = { firstMs: 10_000, longestMs: 10 * 60_000 }

interface Refused {
  /** The server's error message, which names the missing permission. */
  readonly message: string
  /** Number of consecutive rejections per key. */
  readonly keys: Map<string, number>
}

/** Reports loops that lack a permission, once in the log and in the readiness check. */
export class MissingRights {
  readonly #log: Log
  readonly #refused = new Map<string, Refused>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Records a rejected step. Returns the time until the key should be retried. */
  lacks(loop: string, key: string, { message }: Error): StepOutcome {
    const missingRight = this.#refused.get(loop) ?? this.#open(loop, message)
    const times = (missingRight.keys.get(key) ?? 0) + 1
    missingRight.keys.set(key, times)
    return { afterMs: backoffMs(backoff, times) }
  }

  /** Records a successful step of a loop. */
  has(loop: string, key: string): void {
    const missingRight = this.#refused.get(loop)
    if (missingRight === undefined || !missingRight.keys.delete(key) || missingRight.keys.size > 0) return
    this.#refused.delete(loop)
    this.#log.info('control loop has the required permission again', { loop })
  }

  /** Returns a note for the readiness check, or undefined if no loop lacks a permission. */
  note(): string | undefined {
    if (this.#refused.size === 0) return undefined
    const notes = [...this.#refused].map(([loop, { message }]) => `${loop} is not permitted: ${message}`)
    return notes.join('; ')
  }

  #open(loop: string, message: string): Refused {
    const missingRight = { message, keys: new Map<string, number>() }
    this.#refused.set(loop, missingRight)
    this.#log.error("control loop lacks a permission; grant it to the loop's service account", { loop, error: message })
    return missingRight
  }
}

/**
 * Whether the service account of a loop lacks a permission. A 403 from admission (quota, policy, terminating namespace)
 * is caused by the object and is an ordinary failure. Only the error message distinguishes the two cases.
 */
export function isMissingRight(error: unknown): error is StatusError | ApiError {
  if (!(error instanceof StatusError || error instanceof ApiError) || error.code !== 403) return false
  return (
    /\bcannot \S|attempting to grant/.test(error.message) &&
    !/\badmission (control|plugin|webhook)\b/.test(error.message)
  )
}
