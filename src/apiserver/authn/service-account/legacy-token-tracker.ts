/**
 * Labels the Secret of a legacy token with the day of its last use, so that the cleaner and operators know which
 * Secrets are still needed. Each Secret is written at most once a day. Only one write runs at a time. Other writes are
 * skipped, and a later request with the same token triggers them again. A failed write is logged and delays the next
 * write. Requests never wait for these writes.
 */
import { secret as secrets } from '../../../api/kinds/core/secret.ts'
import { dayOf, lastUsedLabel } from '../../../api/model/legacy-tokens.ts'
import type { Lookup, ObjectName } from '../../../api/model/lookup.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { TokenClaims } from './claims.ts'

export interface TrackerParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly clock: Clock
  readonly log: Log
  readonly setLabels: LabelSecret
}

/** Sets labels on a Secret, unless the Secret has been replaced by a new one with a different uid. */
export type LabelSecret = (
  secret: ObjectName & { readonly uid: string },
  labels: { readonly [name: string]: string },
) => Promise<void>

/** How long to wait after a failed write before the next write, in milliseconds. */
const delayMs = 60_000

/** Records the last use of legacy tokens. */
export class LegacyTokenTracker {
  readonly #parts: TrackerParts
  #isWriting = false
  #delayedUntil = Number.NEGATIVE_INFINITY

  constructor(parts: TrackerParts) {
    this.#parts = parts
  }

  /** Records the use of a valid token. Tokens that are not stored in a Secret are ignored. */
  record({ namespace, secret, legacy }: TokenClaims): void {
    if (!legacy || secret === undefined) return
    const { vendor, lookup, clock } = this.#parts
    const storedSecret = lookup.getCached(secrets, { namespace, name: secret.name })
    if (storedSecret === undefined) return
    const { uid = '', labels } = storedSecret.object.metadata
    const today = dayOf(clock.now())
    const label = lastUsedLabel(vendor)
    if (labels?.[label] === today || this.#isWriting || clock.monotonic() < this.#delayedUntil) return
    this.#isWriting = true
    void this.#write({ namespace, name: secret.name, uid }, { [label]: today })
  }

  async #write(secret: ObjectName & { readonly uid: string }, labels: { readonly [name: string]: string }) {
    const { clock, log, setLabels } = this.#parts
    try {
      await setLabels(secret, labels)
    } catch (error) {
      this.#delayedUntil = clock.monotonic() + delayMs
      const { namespace, name } = secret
      log.warn('cannot record the use of a legacy token', { namespace, secret: name, error: messageOf(error) })
    } finally {
      this.#isWriting = false
    }
  }
}
