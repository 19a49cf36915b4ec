/**
 * The client certificates that deny lists name. A change of a list counts from the moment in which this server hears of
 * it, and whoever keeps connections open is told of it.
 */
import type { X509Certificate } from 'node:crypto'
import { certificateDenyList as certificateDenyLists, plainHex } from '../../api/kinds/ops/certificate-deny-list.ts'
import type { Lookup } from '../../api/model/lookup.ts'

/** The certificates that CertificateDenyLists name. */
export class DeniedCertificates {
  #lookup: Lookup | undefined
  #onChange = () => {}
  /** Whether a list has changed since they were read. */
  #stale = false
  #serials = new Set<string>()
  #fingerprints = new Set<string>()
  /** What was found out, for as long as the lists stay the same. */
  #judged = new WeakMap<X509Certificate, boolean>()

  /** To be called before the caches are loaded. */
  follow(lookup: Lookup): void {
    this.#lookup = lookup
    lookup.follow(certificateDenyLists, { changed: () => this.#change(), reset: () => this.#change() })
  }

  /** Called when lists have changed: once for changes that come together. */
  onChange(run: () => void): void {
    this.#onChange = run
  }

  has(certificate: X509Certificate): boolean {
    if (this.#stale) this.#read()
    if (this.#serials.size === 0 && this.#fingerprints.size === 0) return false
    const known = this.#judged.get(certificate)
    if (known !== undefined) return known
    const denied =
      this.#serials.has(plainHex(certificate.serialNumber)) ||
      this.#fingerprints.has(plainHex(certificate.fingerprint256))
    this.#judged.set(certificate, denied)
    return denied
  }

  #change(): void {
    if (this.#stale) return
    this.#stale = true
    setImmediate(() => this.#onChange())
  }

  #read(): void {
    this.#stale = false
    this.#judged = new WeakMap()
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
