/**
 * Counts the use of legacy and stale service account tokens, so that operators know when support for them can be
 * disabled.
 */
import { Counter, type Metric } from '../../../base/telemetry/metrics.ts'
import type { TokenClaims } from './claims.ts'

/** Counts requests with legacy or stale tokens. */
export class TokenMetrics {
  readonly #legacy = new Counter({
    name: 'serviceaccount_legacy_tokens_total',
    help: 'Number of requests with a legacy token from a Secret.',
    labels: [],
  })
  readonly #stale = new Counter({
    name: 'serviceaccount_stale_tokens_total',
    help: 'Number of requests with a token that its holder should have replaced.',
    labels: [],
  })
  readonly #valid = new Counter({
    name: 'serviceaccount_valid_tokens_total',
    help: 'Number of requests with a bound token that is not stale.',
    labels: [],
  })
  readonly metrics: readonly Metric[] = [this.#legacy, this.#stale, this.#valid]
  readonly #counts = { legacy: this.#legacy.at(), stale: this.#stale.at(), valid: this.#valid.at() }

  count({ legacy, staleFrom }: TokenClaims, now: number): void {
    if (legacy) this.#counts.legacy.value++
    else if (now >= staleFrom) this.#counts.stale.value++
    else this.#counts.valid.value++
  }
}
