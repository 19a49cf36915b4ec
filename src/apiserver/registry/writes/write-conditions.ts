/**
 * The terms on which one attempt at a write is admitted: what it rests on, what its commit takes and releases besides,
 * who wants to hear how it ended, and the stored object as controls see it. Each attempt has its own; those who admit it fill them, whoever stores it keeps them.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Guard, type Key, StoreError, type Taken } from '../../../storage/store/store.ts'
import type { Settle, WriteOutcome } from '../../admission/admission.ts'
import type { Claims, Ending } from '../../admission/commit-terms.ts'

/** What a commit rests on, takes and releases beyond the object itself and what that holds. */
export interface CommitTerms {
  readonly guards: readonly Guard[]
  readonly takes: readonly Taken[]
  readonly releases: readonly Key[]
}

export class WriteConditions {
  /** The write happens only if these are as they were. */
  readonly #guards: Guard[] = []
  readonly #along: { readonly ending: Ending; readonly claims: Claims }[] = []
  readonly #waiting: Settle[] = []
  #shown: ApiObject | undefined
  #admissionBegan: number | undefined

  /** When admission of this attempt began, which is the first time that this is asked. */
  admissionBegan(clock: Clock): number {
    this.#admissionBegan ??= clock.monotonic()
    return this.#admissionBegan
  }

  dependOn(guard: Guard): void {
    this.#guards.push(guard)
  }

  /** The commit with which the write ends so takes and releases these too. */
  commitWith(ending: Ending, claims: Claims): void {
    this.#along.push({ ending, claims })
  }

  termsFor(ending: Ending): CommitTerms {
    if (this.#along.length === 0) return { guards: this.#guards, takes: [], releases: [] }
    const along = this.#along.filter((each) => each.ending === ending)
    return {
      guards: this.#guards,
      takes: along.flatMap(({ claims }) => claims.takes ?? []),
      releases: along.flatMap(({ claims }) => claims.releases ?? []),
    }
  }

  onOutcome(settle: Settle): void {
    this.#waiting.push(settle)
  }

  /** The stored object, in a copy that cannot be changed. Made when somebody looks at it: most controls never do. */
  show(stored: ApiObject | undefined): ApiObject | undefined {
    if (stored === undefined) return undefined
    this.#shown ??= freeze(structuredClone(stored))
    return this.#shown
  }

  /** Makes the attempt and tells those who wait how it ended, before anybody else hears of it. */
  async attempt<T>(attempt: () => Promise<T>, outcomeOf: (result: T) => WriteOutcome): Promise<T> {
    let result: T
    try {
      result = await attempt()
    } catch (error) {
      await this.#tell(error instanceof StoreError && error.ambiguous ? 'unknown' : 'failed')
      throw error
    }
    await this.#tell(outcomeOf(result))
    return result
  }

  async #tell(outcome: WriteOutcome): Promise<void> {
    for (const settle of this.#waiting) await settle(outcome)
  }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
