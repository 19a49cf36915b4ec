/**
 * Certificates with several common names: programs disagree on which one counts, so such a certificate is refused
 * rather than let two programs see two people. Each is logged once, by its fingerprint, for its issuer. How many
 * fingerprints are remembered is bounded: the oldest go first.
 */
import type { X509Certificate } from 'node:crypto'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import type { Log } from '../../base/telemetry/log.ts'
import type { AuthenticationOutcome } from './authenticator.ts'

const maxLogged = 1024

/** Refuses certificates with several common names, and logs each once. */
export class SeveralNames {
  readonly #log: Log
  readonly #logged = new BoundedMap<string, true>(maxLogged)

  constructor(log: Log) {
    this.#log = log
  }

  /** To be called for trusted certificates alone: strangers could fill the log. */
  refuse({ fingerprint256 }: X509Certificate): AuthenticationOutcome {
    if (!this.#logged.has(fingerprint256)) this.#report(fingerprint256)
    return { result: 'refused', why: 'the client certificate has several common names' }
  }

  #report(fingerprint: string): void {
    this.#logged.set(fingerprint, true)
    this.#log.warn('refused a client certificate with several common names: issue one with a single common name', {
      fingerprint,
    })
  }
}
