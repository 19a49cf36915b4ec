/**
 * Loops whose account lacks a right, by the refusals of their steps. Each is logged once and shown by `/readyz?verbose` until the refused step succeeds;
 * meanwhile a refused key is tried seldom, as only a change of policy can help it.
 *
 * It does not make the server unready: the API works, and all servers of a store would be unready at once.
 */

import { ApiError } from '../../api/model/api-error.ts'
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { StatusError } from '../requests/status-error.ts'
import type { StepOutcome } from './work-queue.ts'

const backoff: Backoff = { firstMs: 10_000, longestMs: 10 * 60_000 }

interface Refused {
  /** The refusal that was logged. */
  readonly message: string
  /** How often each key was refused in a row. */
  readonly keys: Map<string, number>
}

/** Which loops lack a right: told once in the log, and in readiness. */
export class MissingRights {
  readonly #log: Log
  readonly #refused = new Map<string, Refused>()

  constructor(log: Log) {
    this.#log = log
  }

  /** A step was refused. Returns when to try it again. */
  lacks(loop: string, key: string, { message }: Error): StepOutcome {
    const refused = this.#refused.get(loop) ?? this.#open(loop, message)
    const times = (refused.keys.get(key) ?? 0) + 1
    refused.keys.set(key, times)
    return { afterMs: backoffMs(backoff, times) }
  }

  /** A step succeeded. */
  has(loop: string, key: string): void {
    const refused = this.#refused.get(loop)
    if (refused === undefined || !refused.keys.delete(key) || refused.keys.size > 0) return
    this.#refused.delete(loop)
    this.#log.info('loop is permitted again', { loop })
  }

  /** What people should know of them; undefined where no loop lacks a right. */
  note(): string | undefined {
    if (this.#refused.size === 0) return undefined
    const notes = [...this.#refused].map(([loop, { message }]) => `${loop} is not permitted: ${message}`)
    return notes.join('; ')
  }

  #open(loop: string, message: string): Refused {
    const refused = { message, keys: new Map<string, number>() }
    this.#refused.set(loop, refused)
    this.#log.error('loop is not permitted to do its work; grant its account the right', { loop, error: message })
    return refused
  }
}

/**
 * Whether the account of a loop lacks a right. A 403 of admission (a quota, a policy, a namespace that ends) is about the
 * object, and no right would help: such a step failed like any other. What tells them apart is the message alone.
 */
export function isMissingRight(error: unknown): error is StatusError | ApiError {
  if (!(error instanceof StatusError || error instanceof ApiError) || error.code !== 403) return false
  return /\bcannot \S|attempting to grant/.test(error.message) && !/\badmission (control|webhook)\b/.test(error.message)
}
