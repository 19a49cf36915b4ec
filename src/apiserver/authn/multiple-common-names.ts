/**
 * Rejects certificates with several common names, because programs disagree on which name is authoritative. Each
 * certificate, identified by its fingerprint, is logged only once. The number of cached fingerprints is bounded, and
 * the oldest are evicted first.
 */
import type { X509Certificate } from 'node:crypto'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { AuthenticationOutcome } from './authenticator.ts'

const maxLogged = 1024

/** Rejects certificates with several common names and logs each certificate once. */
export class MultipleCommonNames {
  readonly #log: Log
  readonly #logged = new BoundedMap<string, true>(maxLogged)

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * Rejects a certificate with several common names and logs it. Call it only for certificates of a trusted CA, so that
   * strangers cannot fill the log.
   */
  refuse({ fingerprint256 }: X509Certificate): AuthenticationOutcome {
    if (!this.#logged.has(fingerprint256)) this.#report(fingerprint256)
    return { result: 'refused', why: 'the client certificate has several common names' }
  }

  #report(fingerprint: string): void {
    this.#logged.set(fingerprint, true)
    this.#log.warn('rejected client certificate with several common names; issue one with a single common name', {
      fingerprint,
    })
  }
}
