/**
 * Client certificates that are listed in CertificateDenyLists. A change takes effect as soon as this server receives
 * it, and a callback can then close open connections.
 */
import type { X509Certificate } from 'node:crypto'
import { certificateDenyList as certificateDenyLists, plainHex } from '../../api/kinds/ops/certificate-deny-list.ts'
import type { Lookup } from '../../api/model/lookup.ts'

/** Checks certificates against all CertificateDenyLists. */
export class DeniedCertificates {
  #lookup: Lookup | undefined
  #onChange = () => {}
  /** Whether the sets below are out of date because a deny list has changed. */
  #stale = false
  #serials = new Set<string>()
  #fingerprints = new Set<string>()
  /** Cached results by certificate. Dropped when a deny list changes. */
  #verdicts = new WeakMap<X509Certificate, boolean>()

  /** Starts tracking the deny lists. Must be called before the caches are loaded. */
  follow(lookup: Lookup): void {
    this.#lookup = lookup
    lookup.follow(certificateDenyLists, { changed: () => this.#change(), reset: () => this.#change() })
  }

  /** Sets the function to call when the deny lists change. Simultaneous changes cause a single call. */
  onChange(run: () => void): void {
    this.#onChange = run
  }

  has(certificate: X509Certificate): boolean {
    if (this.#stale) this.#read()
    if (this.#serials.size === 0 && this.#fingerprints.size === 0) return false
    const cachedVerdict = this.#verdicts.get(certificate)
    if (cachedVerdict !== undefined) return cachedVerdict
    const denied =
      this.#serials.has(plainHex(certificate.serialNumber)) ||
      this.#fingerprints.has(plainHex(certificate.fingerprint256))
    this.#verdicts.set(certificate, denied)
    return denied
  }

  #change(): void {
    if (this.#stale) return
    this.#stale = true
    setImmediate(() => this.#onChange())
  }

  #read(): void {
    this.#stale = false
    this.#verdicts = new WeakMap()
    this.#serials = new Set()
    this.#fingerprints = new Set()
    for (const name of this.#lookup!.names(certificateDenyLists)) {
      const { spec } = this.#lookup!.readUncached(certificateDenyLists, name) ?? {}
      for (const { serialNumber, fingerprint } of spec?.certificates ?? []) {
        if (serialNumber) this.#serials.add(plainHex(serialNumber))
        if (fingerprint) this.#fingerprints.add(plainHex(fingerprint))
      }
    }
  }
}
