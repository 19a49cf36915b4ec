/**
 * Collects the conditions of one write attempt: preconditions and additional reservations of the commit, callbacks for
 * the outcome, and the stored object for admission plugins. Admission plugins add conditions, which the commit applies.
 * Every attempt starts without conditions.
 */

import { frozenCopy } from '../../../api/json/frozen-copy.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Guard, type Key, type ReservedKey, StoreError } from '../../../storage/store/store.ts'
import type { Settle, WriteOutcome } from '../../admission/admission.ts'
import type { Ending, KeyReservations } from '../../admission/commit-terms.ts'

/** Preconditions and reservations of a commit, in addition to those of the object itself. */
export interface CommitTerms {
  readonly guards: readonly Guard[]
  readonly reserves: readonly ReservedKey[]
  readonly releases: readonly Key[]
}

export class WriteConditions {
  /** Preconditions of the commit, which fails if one of their keys has changed. */
  readonly #guards: Guard[] = []
  readonly #along: { readonly ending: Ending; readonly reservations: KeyReservations }[] = []
  readonly #waiting: Settle[] = []
  #shown: ApiObject | undefined
  #admissionBegan: number | undefined

  /**
   * Returns the time on the monotonic clock at which admission of this attempt began. The time is set by the first
   * call.
   */
  admissionBegan(clock: Clock): number {
    this.#admissionBegan ??= clock.monotonic()
    return this.#admissionBegan
  }

  dependOn(guard: Guard): void {
    this.#guards.push(guard)
  }

  /** Adds keys that the commit reserves and releases if the write has the given outcome. */
  commitWith(ending: Ending, reservations: KeyReservations): void {
    this.#along.push({ ending, reservations })
  }

  termsFor(ending: Ending): CommitTerms {
    if (this.#along.length === 0) return { guards: this.#guards, reserves: [], releases: [] }
    const along = this.#along.filter((each) => each.ending === ending)
    return {
      guards: this.#guards,
      reserves: along.flatMap(({ reservations }) => reservations.reserves ?? []),
      releases: along.flatMap(({ reservations }) => reservations.releases ?? []),
    }
  }

  onOutcome(settle: Settle): void {
    this.#waiting.push(settle)
  }

  /**
   * Returns a frozen copy of the stored object. The copy is created on first use, because most plugins never need it.
   */
  show(stored: ApiObject | undefined): ApiObject | undefined {
    if (stored === undefined) return undefined
    this.#shown ??= asObject(frozenCopy(asJson(stored)))
    return this.#shown
  }

  /** Runs a write attempt. Reports its outcome to all callbacks before returning the result. */
  async attempt<T>(attempt: () => Promise<T>, outcomeOf: (result: T) => WriteOutcome): Promise<T> {
    let result: T
    try {
      result = await attempt()
    } catch (error) {
      await this.#settleAll(error instanceof StoreError && error.ambiguous ? 'unknown' : 'failed')
      throw error
    }
    await this.#settleAll(outcomeOf(result))
    return result
  }

  async #settleAll(outcome: WriteOutcome): Promise<void> {
    for (const settle of this.#waiting) await settle(outcome)
  }
}
